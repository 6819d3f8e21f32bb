import type { ScheduleState } from '../../../core/schedule/state.ts'
import type { RecordedAnswer } from '../../../core/steering/eval-rules.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { bodyOf } from '../rules-field.ts'

/** A longer answer is not read: rules need only a few of its fields. */
export const bodyLengthMax = 16_384
const pageMax = 500
/** How many answers of a schedule are read, and how much text in all. */
export const answersMax = 10_000
const textMax = 32 * 1_024 * 1_024

/** What rules judge: also the answer of a run that was requested now, but neither a test nor a backfill. */
const findAnswers = both(
  'eval find answers',
  `select d.enqueued_at, d.id, a.started_at, a.ended_at, a.ends, case when length(r.body) <= $6 then r.body end as body
    from belfry.run d join belfry.attempt a on a.run_id = d.id and coalesce(a.ends, '') <> ''
    left join belfry.result r on r.run_id = d.id
    where d.schedule_id = $1 and (d.enqueued_at, d.id) > ($2, $3) and d.enqueued_at <= $4
      and d.source not in ('test', 'backfill') order by d.enqueued_at, d.id limit $5`,
)
const findNames = both(
  'eval find schedules',
  `select name from belfry.schedule where ns = $1 and deleted_at is null and name > $2 order by name limit $3`,
)

/** The names of schedules, up to a limit. */
export function* scheduleNames({ ns }: StoreContext, after: string, limit: number): Step<string[]> {
  return (yield* all<{ name: string }>(findNames, ns, after, limit)).map(({ name }) => name)
}

export interface AnswerPage {
  readonly answers: readonly RecordedAnswer[]
  /** How many of these answers were not kept, or are too long to read. */
  readonly withoutBody: number
  readonly textLength: number
  /** The run after which the next page begins; null if there is none. */
  readonly next: AnswerPlace | null
}

/** The place of a run among those of its schedule. */
export interface AnswerPlace {
  readonly enqueuedAt: number
  readonly id: number
}

/** A page of the answers of a schedule, oldest first. Cancelled and skipped runs are not answers. */
export function* answersPage(
  _: StoreContext,
  { id, spec }: Pick<ScheduleRow, 'id' | 'spec'>,
  { after, to }: { readonly after: AnswerPlace; readonly to: number },
): Step<AnswerPage> {
  const rows = yield* all<Row>(findAnswers, id, after.enqueuedAt, after.id, to, pageMax, bodyLengthMax)
  const ended = rows.filter(
    ({ ends, started_at }) => started_at !== null && (ends === 'completed' || ends === 'failed'),
  )
  const last = rows.length < pageMax ? undefined : rows.at(-1)
  const answers = ended.map((row): RecordedAnswer => {
    const result = parsed(row.body)
    const status = (result as { status?: unknown } | undefined)?.status
    return {
      startedAt: row.started_at as number,
      endedAt: row.ended_at as number,
      hasFailed: row.ends === 'failed',
      body: bodyOf(spec.target, result),
      status: spec.target?.http !== undefined && typeof status === 'number' ? status : undefined,
    }
  })
  return {
    answers,
    withoutBody: ended.filter(({ body }) => typeof body !== 'string').length,
    textLength: ended.reduce((sum, { body }) => sum + String(body ?? '').length, 0),
    next: last === undefined ? null : { enqueuedAt: last.enqueued_at as number, id: last.id as number },
  }
}

/** Whether enough answers of one schedule were read. */
export function isEnough(answers: number, textLength: number): boolean {
  return answers >= answersMax || textLength >= textMax
}

/** A text that was truncated when it was stored is not JSON. */
function parsed(body: unknown): unknown {
  try {
    return typeof body === 'string' ? JSON.parse(body) : undefined
  } catch {
    return body
  }
}

/** The schedule as it would have been at an instant, without hints, pauses and failures. */
export function stateAt(row: ScheduleState, from: number): ScheduleState {
  const { maxRuns: _, pauseAfterFailures: __, ...spec } = row.spec
  return {
    ...row,
    spec,
    hints: {},
    steering: null,
    ...{ disabledAt: null, disabledReason: null, pausedUntil: null, pausedReason: null, finished: null },
    ...{ failureCount: 0, noopCount: 0, runsCount: 0, lastPlannedAt: null, anchorAt: from, waitsFor: null },
    ...{ nextRunAt: null, nextDueAt: null, nextDecision: null, wakeAt: null },
  }
}
