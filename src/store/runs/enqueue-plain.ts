import type { TargetNeed } from '../../core/queue/plan-leases.ts'
import type { NewRun } from '../port.ts'
import { clockOr, dialects, eachAhead, eachAlone, type Request, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { needColumns, needName } from './lane-row.ts'
import { countsRuns } from './run-quota.ts'
import type { RunRow } from './run-row.ts'

/**
 * Enqueues runs of one lane, whose queue and need exist: one statement puts all of them in line, or none. It returns no row if
 * it enqueued none. It is for PostgreSQL only, because SQLite has no round trips to save.
 */
export const enqueuePlainly = dialects('enqueue plainly', {
  sqlite: null,
  postgres: `with lane as materialized (
      select q.ns, q.id as queue_id, q.policy_version, n.id as need_id, ${clockOr('$7')} as now
      from belfry.queue q join belfry.need n on n.ns = q.ns and n.kind = $3 and n.name = $4 and n.account = $5 and n.calendar = $6
      where q.ns = $1 and q.name = $2 and q.deleted_at is null and ${countsRuns('$1')} = 0),
    made as (
      insert into belfry.run (id, ns, queue_id, need_id, priority, enqueued_at, due_at, source, deadline, repeatable,
        on_exhausted, policy_version, target, payload, options)
      select i.id, l.ns, l.queue_id, l.need_id, i.priority, l.now, l.now, 'enqueued', i.deadline, i.repeatable,
        i.on_exhausted, l.policy_version, i.target, i.payload, i.options
      from lane l cross join unnest($8::bigint[], $9::int[], $10::bigint[], $11::smallint[], $12::text[], $13::text[],
          $14::text[], $15::text[]) as i (id, priority, deadline, repeatable, on_exhausted, target, payload, options)
      returning id, ns, queue_id, need_id, priority, enqueued_at),
    placed as (
      insert into belfry.ready (queue_id, need_id, priority, enqueued_at, run_id, ns, fence, attempts, releases, deaths)
      select queue_id, need_id, priority, enqueued_at, id, ns, 0, 0, 0, 0 from made returning run_id)
    select count(*) as taken from placed having count(*) > 0`,
})

/** A valid run: what it needs from its executor, and its JSON fields as they will be stored. */
export interface CheckedRun {
  readonly input: NewRun
  readonly need: TargetNeed | null
  readonly texts: Pick<RunRow, 'target' | 'payload' | 'options'>
}

/**
 * Whether all of these runs need only a place in line, in the same lane. Runs with an account are excluded, because the
 * account must be looked up.
 */
export function arePlain(runs: readonly CheckedRun[]): boolean {
  const [first] = runs
  // A run with calendars or accounts is excluded, because they must be checked first.
  if (first === undefined || (first.need?.calendar ?? first.need?.account) !== undefined) return false
  const lane = needName(first.need)
  return runs.every(({ input, need }) => {
    const { queue, notBefore, concurrencyKey, idempotencyKey, dedupeKey } = input
    const isPlain = (notBefore ?? concurrencyKey ?? idempotencyKey ?? dedupeKey) === undefined
    return isPlain && queue === first.input.queue && (need === first.need || needName(need) === lane)
  })
}

interface PlainLane {
  readonly queue: string
  readonly priorityDefault: number
}

/** Returns whether the runs were enqueued; if not, the queue or the need may not exist yet. */
export function* enqueueAtOnce(...plain: Parameters<typeof plainly>): Step<boolean> {
  return (yield* eachAlone(...plainly(...plain))).length > 0
}

/** As `enqueueAtOnce`, but the rows are read later: there is one row if the runs were enqueued. */
export function enqueueAhead(...plain: Parameters<typeof plainly>): Step<Request> {
  return eachAhead(...plainly(...plain))
}

function plainly(
  { ns }: StoreContext,
  runs: readonly CheckedRun[],
  ids: readonly number[],
  { queue, priorityDefault }: PlainLane,
): Parameters<typeof eachAlone> {
  const lane = needColumns(needName(runs[0]?.need ?? null))
  const tuples = runs.map(({ input, texts }, index) => [
    ids[index] as number,
    input.priority ?? priorityDefault,
    input.deadline ?? null,
    (input.repeatable ?? true) ? 1 : 0,
    input.onExhausted ?? null,
    texts.target,
    texts.payload,
    texts.options,
  ])
  return [enqueuePlainly, tuples, ns, queue, ...lane, storeClock]
}
