import { readPolicy } from '../queues/queue-row.ts'
import { admit, gateName, regateAll } from '../runs/admit.ts'
import type { Gate } from '../runs/key-gate.ts'
import { type Aside, readyRowOf, setAside, takeFromAside, takeFromLine } from '../runs/ready-aside.ts'
import { all, both, metOthers, type Row, type Step } from '../statement.ts'
import { columnsOf } from '../tables.ts'
import { schedulesAtWork } from './live-run.ts'
import type { ScheduleRow } from './schedule-row.ts'

const findGates = both(
  'hold find gates',
  ({ join }) => `select distinct d.ns, d.queue_id, d.concurrency_key, q.policy from belfry.schedule_run s
    ${join.inner('run d', 'd.id = s.run_id')} join belfry.queue q on q.id = d.queue_id
    where s.schedule_id = $1 and d.concurrency_key is not null`,
)
const findAside = both(
  'hold find aside',
  ({ join }) => `select a.run_id from belfry.schedule_run s ${join.inner('aside a', 'a.run_id = s.run_id')}
    where s.schedule_id = $1 and a.kind <> 'parked'`,
)
const inItsPlace = `r.queue_id = d.queue_id and r.need_id = d.need_id and r.priority = d.priority
  and r.enqueued_at = d.enqueued_at and r.run_id = d.id`
const findInLine = both(
  'hold find in line',
  ({ join }) => `select ${columnsOf('ready', 'r')} from belfry.schedule_run s ${join.inner('run d', 'd.id = s.run_id')}
    ${join.inner('ready r', inItsPlace)} where s.schedule_id = $1`,
)
const findHeld = both(
  'hold find held',
  ({ join }) => `select a.run_id, d.waits_for, q.policy from belfry.schedule_run s
    ${join.inner('aside a', 'a.run_id = s.run_id')} ${join.inner('run d', 'd.id = s.run_id')}
    join belfry.queue q on q.id = d.queue_id where s.schedule_id = $1 and a.kind = 'held'`,
)

const looksMax = 10
/** The mark of a held run that waited for another run of its schedule when the pause began. */
const wasBehind = 'overlap'

/** Runs of a schedule that are not leased, taken from their places. */
export interface Withdrawn {
  readonly asides: readonly Aside[]
  /** The keys whose next runs may start now. */
  readonly gates: ReadonlyMap<string, Gate>
}

/** Sets aside every run of a locked schedule that is not leased; their key slots go to other runs. */
export function* holdRuns(schedule: ScheduleRow): Step<void> {
  const { asides, gates } = yield* withdrawRuns(schedule)
  yield* setAside(
    asides.map(({ standing, kind, at, reason }) => {
      return { standing, kind: 'held', at, reason: kind === 'overlap' ? wasBehind : kind === 'key' ? null : reason }
    }),
  )
  yield* regateAll(gates)
}

/**
 * Returns the held runs of a locked schedule to their places, unless a hold still applies. Each run keeps the instant that it
 * waited for; runs that may not overlap start one at a time, as before.
 */
export function* releaseRuns(now: number, schedule: ScheduleRow): Step<void> {
  if (schedule.heldBy !== null) return
  const rows = yield* all(findHeld, schedule.id)
  if (rows.length === 0) return
  const definitions = new Map(rows.map((row) => [row.run_id as number, row]))
  let isAtWork = (yield* schedulesAtWork([schedule.id])).has(schedule.id)
  const freed = yield* takeFromAside([...definitions.keys()])
  const mayBeBehind = ({ standing, reason }: Aside) =>
    reason === wasBehind || definitions.get(standing.runId)?.waits_for !== null
  // A run that was reset may be older than the run that it waited for, so runs that waited for no other run
  // come first.
  const ordered = freed.sort((a, b) => Number(mayBeBehind(a)) - Number(mayBeBehind(b)) || byAge(a, b))
  const arrivals = ordered.map((held) => {
    const { standing, at, reason } = held
    const isBehind = isAtWork && mayBeBehind(held)
    isAtWork = true
    // A run without a reason was in line and waits for no instant; after the clock was set back, its `at` may be in
    // the future.
    const eligible = reason === null ? null : { at, reason: reason === wasBehind ? 'not-before' : reason }
    return {
      standing,
      eligible,
      kept: isBehind ? ('overlap' as const) : null,
      keyLimit: keyLimitOf(definitions.get(standing.runId)),
    }
  })
  yield* admit(now, arrivals)
}

/**
 * Takes runs out of line and from aside. The schedule's lock stops steps that would return a run from its lease, but a run may
 * still be promoted, gated or leased meanwhile, so the search repeats until none is left.
 */
export function* withdrawRuns(schedule: ScheduleRow): Step<Withdrawn> {
  const gates = gatesOf(yield* all(findGates, schedule.id))
  // A step at a gate locks the gate and then its runs; taking the runs first could deadlock.
  yield* regateAll(gates)
  const asides: Aside[] = []
  for (let looks = 1; looks <= looksMax; looks++) {
    const standingAside = (yield* all<{ run_id: number }>(findAside, schedule.id)).map((row) => row.run_id)
    asides.push(...(yield* takeFromAside(standingAside)))
    const inLine = (yield* all(findInLine, schedule.id)).map(readyRowOf)
    const taken = new Set(yield* takeFromLine(inLine))
    for (const standing of inLine) {
      if (taken.has(standing.runId)) asides.push({ standing, kind: 'waiting', at: standing.enqueuedAt, reason: null })
    }
    if (standingAside.length + inLine.length === 0) return { asides, gates }
  }
  throw metOthers(`The runs of schedule ${schedule.name} moved ${looksMax} times during the request.`)
}

function byAge({ standing: a }: Aside, { standing: b }: Aside): number {
  return a.enqueuedAt - b.enqueuedAt || a.runId - b.runId
}

function gatesOf(rows: readonly Row[]): Map<string, Gate> {
  const gates = new Map<string, Gate>()
  for (const row of rows) {
    const gate = { ns: row.ns as number, queueId: row.queue_id as number, key: row.concurrency_key as string }
    gates.set(gateName(gate), { ...gate, limit: keyLimitOf(row) })
  }
  return gates
}

function keyLimitOf(row: Row | undefined): number | null {
  return row === undefined ? null : (readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null)
}
