import { type Breach, breach, type Check, counted } from './check.ts'
import type { History, RecordedRun, RecordedSchedule } from './history.ts'

/**
 * Matches runs to targets, as Jepsen does for Chronos: each nominal instant of a schedule is a target that opens then and
 * closes `epsilonMs` later, and a run that belongs to it must have begun in between, one for each. Without an epsilon
 * nobody is late, however long it took.
 */
export function everyTargetMatched({ epsilonMs }: { readonly epsilonMs: number }): Check {
  return (history) => history.schedules.flatMap((schedule) => breachesOf(schedule, history, epsilonMs))
}

function breachesOf(schedule: RecordedSchedule, history: History, epsilonMs: number): Breach[] {
  const { name, promise } = schedule
  const runs = history.runs
    .filter((run) => run.schedule === name && run.occurrenceAt !== null)
    .toSorted((a, b) => Number(a.occurrenceAt) - Number(b.occurrenceAt))
  const starts = firstStarts(history)
  const matched = [...doubles(name, runs), ...untimely({ runs, starts, epsilonMs })]
  if (promise.kind === 'delay') return [...matched, ...brokenChain(schedule, runs, { ...promise, epsilonMs })]
  return [...matched, ...untold(schedule, runs, promise.targets, promise.kind === 'every-instant')]
}

function doubles(name: string, runs: readonly RecordedRun[]): Breach[] {
  return [...counted(runs.map(({ occurrenceAt }) => String(occurrenceAt)))]
    .filter(([, count]) => count > 1)
    .map(([at, count]) => breach('doubled', `${name} has ${count} runs for ${at}`))
}

/** When each run was first seen at work, by the witness. */
export function firstStarts({ witnessed }: Pick<History, 'witnessed'>): Map<string, number> {
  const starts = new Map<string, number>()
  for (const { runId, at } of witnessed.starts) starts.set(runId, Math.min(at, starts.get(runId) ?? at))
  return starts
}

interface Timeliness {
  readonly runs: readonly RecordedRun[]
  readonly starts: ReadonlyMap<string, number>
  readonly epsilonMs: number
}

function untimely({ runs, starts, epsilonMs }: Timeliness): Breach[] {
  return runs.flatMap(({ id, occurrenceAt }) => {
    const at = starts.get(id)
    if (at === undefined || occurrenceAt === null) return []
    if (at < occurrenceAt) return [breach('early', `${id} began ${occurrenceAt - at} ms before its instant`)]
    if (at > occurrenceAt + epsilonMs) return [breach('late', `${id} began ${at - occurrenceAt} ms after its instant`)]
    return []
  })
}

/** Every instant stands in the ledger once; where each must have a run, a row without one is an instant missed. */
function untold(
  { name, ledger }: RecordedSchedule,
  runs: readonly RecordedRun[],
  targets: readonly number[],
  isRunDue: boolean,
): Breach[] {
  const breaches: Breach[] = []
  const runAt = new Map(runs.map((run) => [run.occurrenceAt, run.id]))
  const isTarget = new Set(targets)
  for (const { id, occurrenceAt } of runs) {
    if (!isTarget.has(Number(occurrenceAt))) breaches.push(breach('doubled', `${id} of ${name} belongs to no instant`))
  }
  for (const row of ledger) {
    const inside = targets.filter((target) => target >= row.from && target <= row.to).length
    if (inside !== row.count) breaches.push(breach('doubled', `${name} tells of ${row.count} where ${inside} were due`))
  }
  for (const target of targets) {
    const rows = ledger.filter(({ from, to }) => target >= from && target <= to)
    if (rows.length === 0) breaches.push(breach('missed', `${name} has no end for ${target}`))
    if (rows.length > 1) breaches.push(breach('doubled', `${name} has ${rows.length} ends for ${target}`))
    if (isRunDue && !runAt.has(target)) breaches.push(breach('missed', `${name} has no run for ${target}`))
  }
  return breaches
}

interface Delay {
  readonly everyMs: number
  readonly endAt: number
  readonly epsilonMs: number
}

/** A fixed delay has no nominal instants but those it planned, so what can be missed is the next link of the chain. */
function brokenChain({ name }: RecordedSchedule, runs: readonly RecordedRun[], delay: Delay): Breach[] {
  const { everyMs, endAt, epsilonMs } = delay
  const breaches: Breach[] = []
  if (runs.length === 0) return [breach('missed', `${name} never ran`)]
  for (const [index, run] of runs.entries()) {
    const next = runs[index + 1]
    const endedAt = run.attempts.find((attempt) => attempt.ends !== null)?.endedAt ?? run.attempts.at(-1)?.endedAt
    if (endedAt === undefined) continue
    if (next === undefined) {
      if (endedAt + everyMs <= endAt) breaches.push(breach('missed', `${name} has nothing after ${run.id}`))
    } else if (Number(next.occurrenceAt) < endedAt + everyMs) {
      breaches.push(breach('doubled', `${next.id} of ${name} was planned before ${run.id} had ended`))
    } else if (Number(next.occurrenceAt) > endedAt + everyMs + epsilonMs) {
      breaches.push(breach('late', `${next.id} of ${name} was planned late`))
    }
  }
  return breaches
}
