import type { TaskFacts } from '../../../core/agent/task.ts'
import { afterTurn, forgottenMs } from '../../../core/agent/wake-up.ts'
import { parseId } from '../../../core/id.ts'
import { isRecord } from '../../../core/json/record.ts'
import { type AnswerRules, outcomeOf } from '../../../core/run/expect.ts'
import { ttlMsMax } from '../../../core/schedule/hint-bounds.ts'
import type { Ends, MovedSchedule, RunEnd } from '../../../store/runs/end-hooks.ts'
import { finishSchedule } from '../../../store/schedules/finish-schedule.ts'
import { lockSchedules, type ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { everyMinOf, placeHint } from '../../../store/schedules/steer-schedule.ts'
import { both, clockNow, one, run, type Step, thereIsNo } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const keep = both(
  'loop keep turn',
  `insert into belfry.task_turn (schedule_id, ns, note, is_forgotten) values ($1, $2, $3, $4)
    on conflict (schedule_id) do update set note = excluded.note, is_forgotten = excluded.is_forgotten`,
)
const find = both('loop find turn', 'select note, is_forgotten from belfry.task_turn where schedule_id = $1')
export const removeTurns = both(
  'loop remove turns',
  `delete from belfry.task_turn where schedule_id in (select t.schedule_id from belfry.task_turn t
    where t.ns = $1 and ${thereIsNo('from belfry.task k where k.schedule_id = t.schedule_id')} limit $2) returning schedule_id`,
)

export interface NextTurn {
  readonly at: number
  readonly reason: string
  readonly author: string
  readonly note?: string | null
  readonly isForgotten?: boolean
}

/**
 * Plans the next turn of a loop, which has no other timing. The hint has the rank of a rule, so it replaces no hint of a person, and takes
 * effect after one. It does not expire during any pause that the task outlasts: without the hint the loop would neither continue nor end.
 */
export function* planTurn(
  context: StoreContext,
  locked: ScheduleRow,
  { at, reason, author, note = null, isForgotten = false }: NextTurn,
): Step<void> {
  yield* run(keep, locked.id, context.ns, note, isForgotten ? 1 : 0)
  const now = yield* clockNow()
  const apartMs = yield* everyMinOf(context, locked)
  const hint = { kind: 'oneshot', at, expiresAt: now + ttlMsMax, ...(apartMs > 0 && { apartMs }) } as const
  yield* placeHint(context, locked, { hint, reason, author: { kind: 'rule', name: author }, now })
}

/** The note of the previous turn, for a run of a schedule. */
export function* turnNote(_: StoreContext, scheduleId: string): Step<string | null> {
  return (yield* one<{ note: string | null }>(find, parseId('schedule', scheduleId)))?.note ?? null
}

/** After a turn of a loop: ends the loop if the answer matches, and asks once more if the turn planned nothing. */
export function* endTurns(context: StoreContext, { now, ends, schedules }: Ends<MovedSchedule>): Step<void> {
  for (const end of ends) {
    const spec = end.scheduleId === null ? undefined : schedules.get(end.scheduleId)?.before.spec
    const { pace, untilAnswer }: Partial<TaskFacts> = spec?.task ?? {}
    if (end.scheduleId === null || !end.isOver || (pace ?? untilAnswer) === undefined) continue
    if (untilAnswer !== undefined && fits(end, untilAnswer)) {
      yield* finishSchedule(end.scheduleId, { by: 'untilAnswer', now })
    } else if (pace === 'self') yield* goOn({ ...context, ns: end.ns }, end.scheduleId, now)
  }
}

function fits({ status, result }: RunEnd, rules: AnswerRules): boolean {
  const text = isRecord(result) ? result.text : result
  return (
    status === 'completed' &&
    typeof text === 'string' &&
    outcomeOf({ facts: { text }, expect: rules }).kind === 'success'
  )
}

function* goOn(context: StoreContext, scheduleId: number, now: number): Step<void> {
  const row = (yield* lockSchedules([scheduleId], { wait: true })).get(scheduleId)
  if (row === undefined || row.deletedAt !== null || row.finished !== null) return
  const turn = yield* one<{ is_forgotten: number }>(find, scheduleId)
  const hasNext = row.hints.oneshot !== undefined || row.nextRunAt !== null
  const next = afterTurn({ hasNext, wasForgotten: turn?.is_forgotten === 1 })
  if (next === 'end') yield* finishSchedule(scheduleId, { by: 'pace', now })
  if (next !== 'ask-again') return
  const reason = 'The turn before planned no other, and did not stop.'
  yield* planTurn(context, row, { at: now + forgottenMs, reason, author: 'belfry', isForgotten: true })
}
