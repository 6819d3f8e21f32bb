import { withdrawRuns } from '../schedules/hold-runs.ts'
import type { ScheduleRow } from '../schedules/schedule-row.ts'
import { all, dialects, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { cancelledEnding } from './cancel-run.ts'
import { conclude } from './conclude.ts'
import { runOutlines } from './run-outline.ts'

const requestOf = (inRuns: string) => `update belfry.lease set cancel_requested_at = $2, cancel_reason = $3
  where run_id ${inRuns} and cancel_requested_at is null returning run_id`
const liveRuns = '(select run_id from belfry.schedule_run where schedule_id = $1)'
export const requestCancels = dialects('cancel runs request', {
  sqlite: requestOf(`in ${liveRuns}`),
  postgres: requestOf(`= any (array${liveRuns})`),
})

/**
 * Ends every run of a locked schedule that is not leased and, with `leased`, asks the workers of the others to end theirs.
 * `schedule` is the row whose counters change.
 */
export function* cancelRuns(
  context: StoreContext,
  now: number,
  schedule: ScheduleRow,
  { reason, leased }: { reason: string; leased: boolean },
): Step<void> {
  const { asides } = yield* withdrawRuns(schedule)
  if (leased) yield* all(requestCancels, schedule.id, now, reason)
  const places = yield* runOutlines(
    { ...context, ns: schedule.ns },
    asides.map(({ standing }) => standing.runId),
  )
  const endings = [...places.values()].map((place) => cancelledEnding({ place, reason, wasParked: false }))
  if (endings.length > 0) yield* conclude(context, { now, endings, schedules: new Map([[schedule.id, schedule]]) })
}
