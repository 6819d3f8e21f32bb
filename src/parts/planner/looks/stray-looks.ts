import { formatId } from '../../../core/id.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import { cancelRun } from '../../../store/runs/cancel-run.ts'
import { all, both, clockNow, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { shown } from '../../../store/table-codec.ts'
import type { PlannerSpec } from '../planner-row.ts'
import { type AnalysisTarget, plannerQueue } from './analysis-kind.ts'
import { lookSooner } from './look-rows.ts'

const strayMax = 1_000
/** The looks in line, or waiting for an instant, in the lanes of other providers: found by lane and by instant, never by reading all runs. */
const findStrayReady = both(
  'look find stray ready',
  ({ join }) => `select w.run_id, d.target from belfry.queue q
    join belfry.need n on n.ns = q.ns and n.kind = 'analysis' and n.name <> $3
    ${join.inner('ready w', 'w.queue_id = q.id and w.need_id = n.id')} ${join.inner('run d', 'd.id = w.run_id')}
    where q.ns = $1 and q.name = $2 limit $4`,
)
const findStrayAside = both(
  'look find stray aside',
  ({ join }) => `select w.run_id, d.target from belfry.queue q
    ${join.inner('aside w', "w.kind = 'waiting' and w.queue_id = q.id and w.at >= 0")} ${join.inner('run d', 'd.id = w.run_id')}
    join belfry.need n on n.id = w.need_id
    where q.ns = $1 and q.name = $2 and n.kind = 'analysis' and n.name <> $3 limit $4`,
)

/**
 * Ends the looks that wait in the lane of another provider, and lets their schedules be looked at anew. No worker leases them any more, and
 * each would swallow every later look of its schedule by its dedupe key. A look that is leased meanwhile comes back to its lane when its
 * attempt fails, so the search for due looks calls this function too.
 */
export function* endStrayLooks(
  context: StoreContext,
  { provider, model }: Pick<PlannerSpec, 'provider' | 'model'>,
): Step<number> {
  const asked = [context.ns, plannerQueue, provider, strayMax] as const
  const stray = [...(yield* all<Row>(findStrayReady, ...asked)), ...(yield* all<Row>(findStrayAside, ...asked))]
  const now = yield* clockNow()
  for (const { run_id: id, target } of stray) {
    yield* cancelRun(context, formatId('run', id as number), `the planner is ${provider} ${model} now`)
    const { schedule, replay } = (shown(target) as { readonly analysis: AnalysisTarget }).analysis
    const row = replay === undefined ? yield* findScheduleRow(context, schedule) : null
    if (row !== null) yield* lookSooner(row.id, now)
  }
  return stray.length
}
