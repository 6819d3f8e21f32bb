import type { History, RecordedRun } from './history.ts'
import type { Effect } from './witness.ts'

/** What can be found wrong, in the words of the report. */
export type BreachKind =
  | 'missed'
  | 'doubled'
  | 'early'
  | 'late'
  | 'lost'
  | 'double-record'
  | 'unrecorded'
  | 'stale'
  | 'stolen'
  | 'repeated'
  | 'ceiling'
  | 'left-leased'
  | 'left-reserved'
  | 'trouble'

export interface Breach {
  readonly kind: BreachKind
  readonly what: string
}

/** One thing that must hold of every history: all the breaches of it. */
export type Check = (history: History) => Breach[]

/** Workers, store and harness read the same machine's clock, each cut to a whole ms. */
const clockSlackMs = 2

const ended = new Set(['completed', 'failed', 'cancelled', 'skipped', 'parked'])

/** What a client was told to be in the store is there, once, and has come to an end. */
export const nothingLost: Check = ({ runs, witnessed }) => {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const idOfKey = new Map<string, string>()
  const breaches: Breach[] = []
  for (const { key, runId } of witnessed.acks) {
    const other = idOfKey.get(key)
    if (other !== undefined && other !== runId) breaches.push(breach('doubled', `${key} is both ${other} and ${runId}`))
    idOfKey.set(key, runId)
    const run = byId.get(runId)
    if (run === undefined) breaches.push(breach('lost', `${runId} was acknowledged and is not there`))
    else if (run.idempotencyKey !== key) {
      breaches.push(breach('lost', `${runId} was acknowledged for ${key} and is ${run.idempotencyKey}`))
    }
  }
  for (const { id, status } of runs) {
    if (!ended.has(status)) breaches.push(breach('lost', `${id} is ${status} though nothing was left to do`))
  }
  return breaches
}

/** Each lease has one record of its end, a run has one end, and nothing follows it. */
export const recordedOnce: Check = ({ runs }) => runs.flatMap(recordBreaches)

function recordBreaches({ id, status, fence, attempts }: RecordedRun): Breach[] {
  const breaches: Breach[] = []
  const underLease = attempts.filter((attempt) => attempt.fence > 0)
  const fences = new Set(underLease.map((attempt) => attempt.fence))
  if (fences.size < underLease.length) breaches.push(breach('double-record', `${id} has two records of one fence`))
  const successes = attempts.filter(({ outcome }) => outcome === 'success')
  const ends = attempts.filter((attempt) => attempt.ends !== null)
  if (successes.length > 1) breaches.push(breach('double-record', `${id} succeeded ${successes.length} times`))
  if (ends.length > 1) breaches.push(breach('double-record', `${id} has ${ends.length} ends`))
  const isOpen = status === 'leased'
  for (let number = 1; number <= fence - (isOpen ? 1 : 0); number++) {
    if (!fences.has(number)) breaches.push(breach('unrecorded', `${id} has no record of attempt ${number} of ${fence}`))
  }
  if (status === 'completed' && successes.length === 0) {
    breaches.push(breach('double-record', `${id} is completed without a success`))
  }
  if (status !== 'completed' && successes.length > 0) {
    breaches.push(breach('double-record', `${id} succeeded and is ${status}`))
  }
  return breaches
}

/**
 * No end was taken from a worker that had lost its lease: an attempt ended before the next one was seen at work, under
 * the last fence if it ended the run, and a success was written only after its handler had come to its end under that
 * very fence.
 */
export const nothingStale: Check = ({ runs, witnessed }) => {
  const startAt = new Map(witnessed.starts.map((effect) => [nameOf(effect), effect.at]))
  const endAt = new Map(witnessed.ends.map((effect) => [nameOf(effect), effect.at]))
  return runs.flatMap((run) => {
    const breaches: Breach[] = []
    for (const { fence, endedAt, outcome, ends } of run.attempts) {
      if (fence === 0) continue
      const name = nameOf({ runId: run.id, fence })
      const nextAt = startAt.get(nameOf({ runId: run.id, fence: fence + 1 })) ?? Number.POSITIVE_INFINITY
      if (nextAt < endedAt) breaches.push(breach('stale', `${name} ended (${outcome}) while the next one was at work`))
      if (ends !== null && fence !== run.fence) {
        breaches.push(breach('stale', `${name} ended the run, whose last lease is ${run.fence}`))
      }
      const cameAt = endAt.get(name) ?? Number.POSITIVE_INFINITY
      if (outcome === 'success' && cameAt > endedAt + clockSlackMs) {
        breaches.push(breach('stale', `${name} was written as a success before its handler had ended`))
      }
    }
    return breaches
  })
}

/** Nobody's lease was taken before it could have expired, unless its holder was dead by then. */
export const nothingStolen: Check = ({ runs, interruptions, leaseMs }) => {
  const deadAt = new Map(
    interruptions.flatMap(({ kind, workerId, at }) => {
      return workerId !== null && (kind === 'kill' || kind === 'farewell') ? [[workerId, at] as const] : []
    }),
  )
  return runs.flatMap(({ id, attempts }) =>
    attempts.flatMap(({ fence, outcome, workerId, startedAt, endedAt }) => {
      const heldMs = endedAt - (startedAt ?? 0)
      const diedAt = deadAt.get(workerId ?? '') ?? Number.POSITIVE_INFINITY
      if (outcome !== 'lost' || heldMs >= leaseMs || diedAt <= endedAt) return []
      return [breach('stolen', `${id} attempt ${fence} was taken from a living worker after ${heldMs} ms`)]
    }),
  )
}

/** An attempt happens once; what must not repeat happens once in all; nothing happens that the store knows nothing of. */
export const effectsOnce: Check = ({ runs, witnessed }) => {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const perAttempt = counted(witnessed.starts.map(nameOf))
  const perRun = counted(witnessed.starts.map(({ runId }) => runId))
  const breaches: Breach[] = []
  for (const [name, count] of perAttempt) {
    if (count > 1) breaches.push(breach('doubled', `${name} was carried out ${count} times`))
  }
  for (const [runId, count] of perRun) {
    if (count > 1 && byId.get(runId)?.repeatable === false) {
      breaches.push(breach('repeated', `${runId} must not repeat and was carried out ${count} times`))
    }
  }
  for (const { runId, fence } of witnessed.starts) {
    const run = byId.get(runId)
    if (run === undefined) breaches.push(breach('lost', `${runId} was carried out and is not there`))
    else if (fence > run.fence) breaches.push(breach('unrecorded', `${runId} was carried out under a fence ${fence}`))
  }
  return breaches
}

/**
 * Leases never passed a ceiling: by the store's own list whenever it was looked at, and at every instant by what it wrote
 * down, each lease from the first that was seen of it to its end. The instant of the grant is not taken for its beginning:
 * a worker that is stopped between reading the clock and its commit grants later than it says. What a paused worker does
 * beyond its lease is not counted either: nobody can stop it, and the fence refuses what it comes to.
 */
export const ceilingKept: Check = ({ runs, ceilings, samples, witnessed }) => {
  const breaches: Breach[] = []
  const startAt = new Map(witnessed.starts.map((effect) => [nameOf(effect), effect.at]))
  for (const { queue, most, mostPerKey } of ceilings) {
    for (const { key, inFlight, at } of samples.filter((sample) => sample.queue === queue)) {
      const limit = key === null ? most : (mostPerKey ?? Number.POSITIVE_INFINITY)
      if (inFlight > limit) breaches.push(breach('ceiling', `${key ?? queue} had ${inFlight} of ${limit} at ${at}`))
    }
    const leases = runs.filter((run) => run.queue === queue).flatMap((run) => leasesOf(run, startAt))
    const peak = peakOf(leases)
    if (peak > most) breaches.push(breach('ceiling', `${queue} granted ${peak} of ${most} at once`))
    if (mostPerKey === null) continue
    for (const [key, ofKey] of groupedBy(leases, ({ key }) => key)) {
      const peakOfKey = key === null ? 0 : peakOf(ofKey)
      if (peakOfKey > mostPerKey) {
        breaches.push(breach('ceiling', `${key} of ${queue} had ${peakOfKey} of ${mostPerKey} at once`))
      }
    }
  }
  return breaches
}

/**
 * An account was never used by more attempts than may use it: by the store's own count whenever it was looked at, and at every
 * instant by what was seen and written down. When all has ended, nothing of it is reserved any more.
 */
export const accountKept: Check = ({ runs, account: { most, sampled, left }, witnessed }) => {
  const startAt = new Map(witnessed.starts.map((effect) => [nameOf(effect), effect.at]))
  const peak = peakOf(runs.filter(({ account }) => account !== undefined).flatMap((run) => leasesOf(run, startAt)))
  return [
    ...(sampled > most ? [breach('ceiling', `the account had ${sampled} reservations of ${most}`)] : []),
    ...(peak > most ? [breach('ceiling', `the account was used by ${peak} of ${most} at once`)] : []),
    ...(left > 0
      ? [breach('left-reserved', `${left} slots of the account are reserved for attempts that are over`)]
      : []),
  ]
}

/** A budget was never passed whenever it was looked at, and when all has ended nothing of it is reserved any more. */
export const budgetKept: Check = ({ budget: { over, left, attempts } }) => [
  ...(over > 0 ? [breach('ceiling', `the budget was passed by ${over}`)] : []),
  ...(left > 0 || attempts > 0
    ? [breach('left-reserved', `${left} of the budget is reserved, for ${attempts} attempts that are over`)]
    : []),
]

/** Whoever took leave had nothing any more, except what it had stopped trusting, which nobody but the clock can end. */
export const nothingLeftLeased: Check = ({ interruptions, witnessed }) => {
  const givenUp = new Set(witnessed.refusals.map(nameOf))
  return interruptions
    .filter(({ kind }) => kind === 'farewell')
    .flatMap(({ workerId, held }) => held.map((lease) => ({ workerId, name: nameOf(lease) })))
    .filter(({ name }) => !givenUp.has(name))
    .map(({ workerId, name }) => breach('left-leased', `${name} was left leased by ${workerId}, which had ended`))
}

/** What the harness saw besides, and what workers called a defect of their own. */
export const noTrouble: Check = ({ troubles, witnessed }) => [
  ...troubles.map((what) => breach('trouble', what)),
  ...witnessed.defects.map((what) => breach('trouble', `a worker told of a defect: ${what}`)),
]

interface Granted {
  readonly key: string | null
  readonly from: number
  readonly to: number
}

/** Of those that nobody saw begin only the store's list can tell. */
function leasesOf(run: RecordedRun, startAt: ReadonlyMap<string, number>): Granted[] {
  const { id: runId, concurrencyKey: key, attempts, leasedAt, fence } = run
  const endOf = new Map(attempts.map((attempt) => [attempt.fence, attempt.endedAt]))
  if (leasedAt !== null) endOf.set(fence, Number.POSITIVE_INFINITY)
  return [...endOf].flatMap(([number, to]) => {
    const from = startAt.get(nameOf({ runId, fence: number }))
    return from === undefined ? [] : [{ key, from, to }]
  })
}

/** The most that were open at once. One that ends in the ms in which another begins was over before it. */
export function peakOf(spans: readonly { readonly from: number; readonly to: number }[]): number {
  const turns = spans.flatMap(({ from, to }) =>
    to <= from
      ? []
      : [
          { at: from, by: 1 },
          { at: to, by: -1 },
        ],
  )
  turns.sort((a, b) => a.at - b.at || a.by - b.by)
  let open = 0
  let peak = 0
  for (const { by } of turns) {
    open += by
    peak = Math.max(peak, open)
  }
  return peak
}

export function breach(kind: BreachKind, what: string): Breach {
  return { kind, what }
}

export function nameOf({ runId, fence }: Pick<Effect, 'runId' | 'fence'>): string {
  return `${runId} ${fence}`
}

export function counted(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

export function groupedBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
