import { type Hold, heldBy, isOn, workOfSchedule } from '../../core/hold.ts'
import { kernelHoldReasons } from '../../core/hold-reason.ts'
import { parseId } from '../../core/id.ts'
import type { StopSpan } from '../../core/schedule/stop-span.ts'
import type { ScheduleRow } from '../schedules/schedule-row.ts'
import { all, both, dialects, run, runEach, type Step } from '../statement.ts'
import { columnsOf, tables } from '../tables.ts'
import { endless, holdOf } from './hold-row.ts'

/** Whether a hold on a part of the namespace may stop its schedules from firing, or one has: two probes of small indexes. */
export function anyStops(ns: string): string {
  const holds = `select 1 from belfry.hold h where h.ns = ${ns} and h.firing = 'nothing' and h.scope <> 'namespace' limit 1`
  return `coalesce((${holds}), (select 1 from belfry.stop_span p where p.ns = ${ns} limit 1))`
}

const stopping = `select ${columnsOf('hold')} from belfry.hold where ns = $1 and firing = 'nothing' and scope <> 'namespace'
  and from_at <= $2 and until_at > $2 order by id`
/** The lock keeps the hold until the schedules are postponed, because the end of the hold wakes postponed schedules. */
const findStopping = dialects('stopped find holds', { sqlite: stopping, postgres: `${stopping} for share` })
const findSpans = both('stopped find spans', `select ${columnsOf('stop_span')} from belfry.stop_span where ns = $1`)
const postpone = dialects('stopped postpone', tables.schedule.only('id', 'wakeAt', 'stoppedBy').update())

/** The effect of stops on due schedules, by schedule id. */
export interface Stops {
  /** Schedules that do not fire now, and the hold that stops them. */
  readonly stopped: ReadonlyMap<number, number>
  /** For the other schedules: when past stops kept them from firing. */
  readonly spans: ReadonlyMap<number, readonly StopSpan[]>
}

export const noStops: Stops = { stopped: new Map(), spans: new Map() }

/** Which of these due schedules are stopped now, and when past stops held the others. */
export function* stopsOf(rows: readonly ScheduleRow[], now: number): Step<Stops> {
  const stopped = new Map<number, number>()
  const spans = new Map<number, readonly StopSpan[]>()
  for (const ns of new Set(rows.map((row) => row.ns))) {
    const holds = (yield* all(findStopping, ns, now)).map(holdOf)
    const over = (yield* all(findSpans, ns)).map((row) => tables.stop_span.read(row))
    for (const { id, spec } of rows.filter((row) => row.ns === ns)) {
      const work = workOfSchedule(spec)
      const hold = heldBy(holds, work, now)
      if (hold !== null) stopped.set(id, parseId('hold', hold.id) as number)
      const own = over.filter((span) => isOn({ ...span, reason: kernelHoldReasons.stopped.code }, work))
      if (own.length > 0) spans.set(id, own)
    }
  }
  return { stopped, spans }
}

/** A stopped schedule stays due, but no step finds it until the hold has ended: a thousand of them must not keep others waiting. */
export function* postponeStopped({ stopped }: Stops): Step<void> {
  yield* runEach(
    postpone,
    [...stopped].map(([id, hold]) =>
      tables.schedule.only('id', 'wakeAt', 'stoppedBy').tuple({ id, wakeAt: endless, stoppedBy: hold }),
    ),
  )
}

const wakingMax = 500
const dueAgain = `set stopped_by = null, wake_at = case when next_due_at <= $2 then next_due_at else $2 end`
const some = `select id from belfry.schedule where stopped_by = $1 order by id limit ${wakingMax}`
/** This statement wakes sleepers. Schedules that another step has locked are left for the next round. */
export const wakeStopped = dialects('stopped wake', {
  sqlite: `update belfry.schedule ${dueAgain} where id in (${some}) returning id`,
  postgres: `update belfry.schedule ${dueAgain} where id = any (array(${some} for no key update skip locked)) returning id`,
})
const findStopped = both('stopped find', 'select id from belfry.schedule where stopped_by = $1 limit 1')

/** Makes the schedules due again that a hold has postponed, some at a time. Returns whether there are more. */
export function* wakeSome(holdId: number, now: number): Step<boolean> {
  yield* all(wakeStopped, holdId, now)
  return (yield* all(findStopped, holdId)).length > 0
}

const insertSpan = both(
  'stopped insert span',
  `insert into belfry.stop_span (id, ns, scope, subject, from_at, until_at) select $1, $2, $3, $4, $5, $6
    where exists (select 1 from belfry.schedule s where s.ns = $2 and (s.wake_at <= $6 or s.stopped_by is not null))
    on conflict (id) do nothing`,
)
const deleteSpans = both(
  'stopped delete spans',
  ({ numbers }) => `delete from belfry.stop_span where ns ${numbers('$1')} and not exists (
    select 1 from belfry.schedule s where s.ns = belfry.stop_span.ns and (s.wake_at <= belfry.stop_span.until_at or s.stopped_by is not null))`,
)

/**
 * Remembers a stop that is over until the schedules that were due under it have fired: their ledger names the stop as the
 * reason why they are late.
 */
export function* writeSpan(ns: number, { id, scope, subject, from }: Hold, until: number): Step<void> {
  if (from < until) yield* run(insertSpan, parseId('hold', id), ns, scope, subject, from, until)
}

/** Forgets the stops under which no schedule is due any more. */
export function* forgetSpans(rows: readonly ScheduleRow[], { spans }: Stops): Step<void> {
  if (spans.size > 0) yield* run(deleteSpans, JSON.stringify([...new Set(rows.map(({ ns }) => ns))]))
}
