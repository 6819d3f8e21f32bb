import { type Hold, type HoldScope, isInForce } from '../../../core/hold.ts'
import { holdsMax, listHolds } from '../../../store/holds/list-holds.ts'
import { both, clockNow, type Joins, one, type Statement, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** A lane may have a million runs, and an exact count helps no reader. */
export const countMax = 1_000

const counted = (rows: string) => `select count(*) as runs from (select 1 ${rows} limit ${countMax + 1}) c`
const ofLanes = (where: string) => (join: Joins) =>
  counted(`from belfry.need n join belfry.queue q on q.ns = n.ns
    ${join.inner('ready r', 'r.queue_id = q.id and r.need_id = n.id')} where n.ns = $1 and ${where}`)

/** The runs that wait under a hold, by its scope; $2 is its subject. */
const counts: Readonly<Record<HoldScope, Statement>> = {
  namespace: both('admission count namespace', ({ join }) => ofLanes(`$2 = ''`)(join)),
  // No run waits for it.
  occurrences: both('admission count occurrences', `select 0 as runs from belfry.namespace where id = $1 and $2 = ''`),
  queue: both('admission count queue', ({ join }) => ofLanes('q.name = $2')(join)),
  kind: both('admission count kind', ({ join }) => ofLanes(`(n.kind = $2 or n.kind || '/' || n.name = $2)`)(join)),
  calendar: both('admission count calendar', ({ join }) => ofLanes('n.calendar = $2')(join)),
  account: both('admission count account', ({ join }) => ofLanes('n.account = $2')(join)),
  schedule: both('admission count schedule', ({ join }) =>
    counted(`from belfry.schedule s ${join.inner('schedule_run l', 'l.schedule_id = s.id')}
      ${join.inner('aside a', 'a.run_id = l.run_id')}
      where s.ns = $1 and s.name = $2 and s.deleted_at is null and a.kind = 'held'`),
  ),
  key: both('admission count key', ({ join }) =>
    counted(`from belfry.queue q
      ${join.inner('aside a', `a.kind = 'key' and a.queue_id = q.id and a.concurrency_key = $2`)} where q.ns = $1`),
  ),
}

/** A hold in force, and how many runs wait under it; `countMax + 1` means more than `countMax`. */
export interface HeldWork {
  readonly hold: Hold
  readonly waiting: number
}

/** The holds in force, each with the runs that wait under it. */
export function* heldWork(context: StoreContext): Step<HeldWork[]> {
  const now = yield* clockNow()
  const holds = (yield* listHolds(context, { limit: holdsMax })).filter((hold) => isInForce(hold, now))
  const held: HeldWork[] = []
  for (const hold of holds) {
    const row = yield* one<{ runs: number }>(counts[hold.scope], context.ns, hold.subject)
    held.push({ hold, waiting: Number(row?.runs ?? 0) })
  }
  return held
}
