import { durationMsMax } from '../../core/duration.ts'
import { formatId } from '../../core/id.ts'
import type { Hints } from '../../core/schedule/governor.ts'
import { expiredKinds, type HintKind, hintKinds, without } from '../../core/schedule/hints.ts'
import { beforeOneshot, planned } from '../../core/schedule/next-plan.ts'
import { everyMsMin } from '../../core/schedule/schedule-fields.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import { checkInstant, checkInteger, checkText, invalid, nameLengthMax } from '../check.ts'
import type { HintAnswer, NewHint } from '../port.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { both, clockNow, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { fireSchedules } from './fire-due.ts'
import { endHints } from './hint-row.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, type ScheduleRow, saveSchedules } from './schedule-row.ts'

const insertHint = both('hint insert', tables.hint.insertOne())

/** Sets a hint, which replaces the one of its kind, and asks the governor at once. */
export function* setHint(context: StoreContext, name: string, given: NewHint): Step<HintAnswer> {
  const value = checkedValue(given)
  const locked = yield* lockNamedSchedule(context, name)
  if (locked === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  refuseUseless(locked, given, now)
  const found = yield* withPastSettled(context, now, locked, [given.kind])
  const { kind, expiresAt, reason, author } = given
  yield* endHints([{ scheduleId: found.id, kind, at: now, by: 'replaced' }])
  const [id] = (yield* freshIds(1)) as [number]
  const hint = { id, ns: context.ns, scheduleId: found.id, kind, value, expiresAt, reason, author, createdAt: now }
  yield* one(insertHint, ...tables.hint.tuple({ ...hint, endedAt: null, endedBy: null }))
  const own =
    given.kind === 'interval' ? { interval: { ms: given.ms, expiresAt } } : { oneshot: { at: given.at, expiresAt } }
  const { nextRunAt, waitsFor } = yield* askAgain(found, { ...found.hints, ...own }, now)
  return { answer: 'set', nextRunAt, waitsFor: waitsFor === null ? null : formatId('run', waitsFor) }
}
setHint.audits = (answer: HintAnswer) => (answer.answer === 'set' ? { detail: {} } : null)

/** Removes hints; the schedule continues as if they had never been given. */
export function* clearHints(
  context: StoreContext,
  name: string,
  kinds: readonly HintKind[],
): Step<'cleared' | 'not-found'> {
  for (const kind of kinds) checkKind(kind)
  const locked = yield* lockNamedSchedule(context, name)
  if (locked === null) return 'not-found'
  const now = yield* clockNow()
  const found = yield* withPastSettled(context, now, locked, kinds)
  yield* endHints(kinds.map((kind) => ({ scheduleId: found.id, kind, at: now, by: 'cleared' })))
  yield* askAgain(found, without(found.hints, kinds), now)
  return 'cleared'
}
clearHints.audits = (answer: string) => (answer === 'cleared' ? { detail: {} } : null)

/**
 * A pause or an interval hint that ended before any worker acted on it is applied first: calendar instants since then get an end,
 * and the new hint does not reach back. A one-shot that is removed, as one of `kinds`, does not fire on the way.
 */
function* withPastSettled(
  context: StoreContext,
  now: number,
  row: ScheduleRow,
  kinds: readonly HintKind[],
): Step<ScheduleRow> {
  if (isPaused(row, now)) return row
  const isPauseOver = row.pausedUntil !== null
  if (!isPauseOver && !expiredKinds(row.hints, now).includes('interval')) return row
  const taken = isPauseOver ? kinds.filter((kind) => kind === 'oneshot') : []
  const asked = { ...row, hints: without(row.hints, taken) }
  return (yield* fireSchedules(context, now, [asked])).after.get(row.id) ?? row
}

function* askAgain(found: ScheduleRow, hints: Hints, now: number): Step<ScheduleRow> {
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const row = { ...found, hints }
  const after = planned(row, { now: asOf(row, now), lastRunId: lastRunId(row, live) })
  yield* saveSchedules([after])
  return after
}

/** A removed one-shot does not fire, even if its instant has passed. While an end is awaited no instant is nominal. */
function asOf(row: ScheduleRow, now: number): number {
  const { timing } = row.spec
  const isDelay = row.hints.interval !== undefined || (timing.everyMs !== undefined && timing.from !== 'start')
  return row.hints.oneshot !== undefined || isDelay ? now : beforeOneshot(row, now)
}

function checkedValue(given: NewHint): number {
  checkKind(given.kind)
  checkInstant(given.expiresAt, 'expiresAt')
  checkText(given.reason, 'reason', reasonLengthMax)
  checkText(given.author, 'author', nameLengthMax)
  if (given.kind === 'interval') return checkInteger(given.ms, 'ms', everyMsMin, durationMsMax)
  return checkInstant(given.at, 'at')
}

function checkKind(kind: HintKind): void {
  if (!hintKinds.includes(kind)) throw invalid('kind', `is ${JSON.stringify(kind)}`, `one of ${hintKinds.join(', ')}`)
}

function refuseUseless({ spec }: ScheduleRow, given: NewHint, now: number): void {
  const { expiresAt } = given
  if (expiresAt <= now) throw invalid('expiresAt', `is ${expiresAt}`, `after now, which is ${now}`)
  if (given.kind === 'oneshot' && given.at >= expiresAt) {
    throw invalid('at', `is ${given.at}`, `before the hint expires, which is at ${expiresAt}`)
  }
  if (given.kind === 'interval' && spec.timing.at !== undefined) {
    throw invalid('kind', 'is interval', `oneshot, because schedule ${JSON.stringify(spec.name)} runs only once`)
  }
}
