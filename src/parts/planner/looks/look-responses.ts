import { reasonText } from '../../../core/reason-text.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ScheduleView } from '../../../store/views.ts'
import { bodyOf } from '../rules-field.ts'
import { clippedBody, onlyFields } from './clip-body.ts'
import { errorClass } from './look-health.ts'

/** An answer of a run, as a planner may read it. */
export interface LookedResponse {
  readonly responseBody: string
  readonly timestamp: string
  readonly status: 'success' | 'failure'
  readonly durationMs: number | null
  readonly httpStatus: number | null
  readonly error?: string | undefined
}

export type SiblingResponse = LookedResponse & { readonly endpointId: string; readonly endpointName: string }

/** The fields of answers that are sent; undefined: all fields. */
export type Shown = readonly string[] | undefined

/** What rules judge: also the answer of a run that was requested now, but neither a test nor a backfill. */
const findResponses = both(
  'planner find responses',
  ({ join }) => `select a.ended_at, a.started_at, a.ends, a.reason, r.body from belfry.run d
    ${join.inner('attempt a', "a.run_id = d.id and coalesce(a.ends, '') <> ''")} left join belfry.result r on r.run_id = d.id
    where d.schedule_id = $1 and d.source not in ('test', 'backfill') and a.fence > 0 and a.ends in ('completed', 'failed')
    order by d.enqueued_at desc, d.id desc limit $2`,
)

/** The fields of a schedule's answers that planners see. */
export function shownOf({ spec }: Pick<ScheduleRow, 'spec'>, preset: Shown): Shown {
  return spec.planner?.fields ?? preset
}

/** The latest answers of a schedule, newest first. */
export function* responsesOf(row: ScheduleRow, limit: number, preset: Shown): Step<LookedResponse[]> {
  const rows = yield* all(findResponses, row.id, limit)
  return rows.map((found) => responseOf(found, row.spec, shownOf(row, preset)))
}

/** The latest answer of each of these schedules. */
export function* latestOf(
  context: StoreContext,
  siblings: readonly ScheduleView[],
  preset: Shown,
): Step<SiblingResponse[]> {
  const found: SiblingResponse[] = []
  for (const { id, spec } of siblings) {
    const row = yield* findScheduleRow(context, spec.name)
    const [latest] = row === null ? [] : yield* responsesOf(row, 1, preset)
    if (latest !== undefined) found.push({ endpointId: id, endpointName: spec.name, ...latest })
  }
  return found
}

function responseOf(row: Row, { target }: ScheduleRow['spec'], fields: Shown): LookedResponse {
  const result = parsed(row.body)
  const status = (result as { status?: unknown } | null)?.status
  const isFailed = row.ends === 'failed'
  // A failed expectation quotes the value that it found, which may be in a field that is not sent.
  const error = fields === undefined ? reasonText(String(row.reason ?? 'failed'), 200) : errorClass(row.reason)
  return {
    responseBody: clippedBody(onlyFields(bodyOf(target, result), fields)),
    timestamp: isoText(row.ended_at as number),
    status: isFailed ? 'failure' : 'success',
    durationMs: row.started_at === null ? null : (row.ended_at as number) - (row.started_at as number),
    httpStatus: target?.http !== undefined && typeof status === 'number' ? status : null,
    ...(isFailed && { error }),
  }
}

/** A body that was truncated when it was stored is read as text. */
function parsed(body: Row[string] | undefined): unknown {
  if (typeof body !== 'string') return null
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
