import { durationMsMax } from '../../core/duration.ts'
import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import type { Author, AuthorKind } from '../../core/schedule/hint-author.ts'
import type { Refusal } from '../../core/schedule/hint-bounds.ts'
import { type HintKind, hintKinds } from '../../core/schedule/hints.ts'
import { everyMsMin } from '../../core/schedule/schedule-fields.ts'
import { checkInstant, checkInteger, checkText, invalid, nameLengthMax } from '../check.ts'
import type { HintAnswer, NewHint } from '../port.ts'
import { scheduleViewOf } from '../reads/find-schedule.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { lockNamedSchedule } from './schedule-row.ts'
import { clearHintsOf, writeHint } from './steer-schedule.ts'

/** Sets a hint, which replaces the one of its kind and rank, and asks the governor at once. */
export function* setHint(context: StoreContext, name: string, given: NewHint): Step<HintAnswer> {
  checkHint(given)
  const locked = yield* lockNamedSchedule(context, name)
  if (locked === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const { author: authorName, by: kind = 'person', ...wish } = given
  const written = yield* writeHint(context, locked, { wish, author: { kind, name: authorName }, now })
  if (written.answer === 'refused') throw refusalError(written.refusal)
  const { row, clamped, outrankedBy } = written
  const { nextRunAt, waitsFor } = row
  const told = { ...(clamped !== null && { clamped }), ...(outrankedBy !== null && { outrankedBy }) }
  const views = { before: scheduleViewOf(locked), after: scheduleViewOf(row) }
  return { answer: 'set', nextRunAt, waitsFor: waitsFor === null ? null : formatId('run', waitsFor), ...told, ...views }
}
setHint.rehearses = true as const
setHint.audits = (answer: HintAnswer) => (answer.answer === 'set' ? { detail: {} } : null)

export type ClearAnswer =
  | { readonly answer: 'cleared'; readonly cleared: readonly HintKind[]; readonly kept: readonly AuthorKind[] }
  | { readonly answer: 'not-found' }

/** Removes the hints that the author may remove; the schedule continues as if they had never been given. */
export function* clearHints(
  context: StoreContext,
  name: string,
  kinds: readonly HintKind[],
  author: Author = { kind: 'person', name: 'belfry' },
): Step<ClearAnswer> {
  for (const kind of kinds) checkKind(kind)
  const locked = yield* lockNamedSchedule(context, name)
  if (locked === null) return { answer: 'not-found' }
  const done = yield* clearHintsOf(context, locked, { kinds, author, now: yield* clockNow() })
  if (done.answer === 'refused') throw refusalError(done.refusal)
  const { cleared, kept } = done
  return { answer: 'cleared', cleared, kept }
}
clearHints.audits = ({ answer }: ClearAnswer) => (answer === 'cleared' ? { detail: {} } : null)

/** A refusal as the error of a door. */
export function refusalError({ code, field, problem, expected, liftsAt }: Refusal): BelfryError {
  if (code === 'invalid') return invalid(field, problem, expected)
  const isRate = code === 'too-many-changes'
  const subject = isRate ? 'The caller' : `\`${field}\``
  const lifts = liftsAt === undefined ? '' : ` The limit lifts at ${new Date(liftsAt).toISOString()}.`
  return new BelfryError(code, `${subject} ${problem}.${lifts}`, {
    hint: `Allowed is ${expected}.`,
    details: { reason: code, field, problem, expected, ...(liftsAt !== undefined && { liftsAt }) },
  })
}

function checkHint(given: NewHint): void {
  checkKind(given.kind)
  if (given.expiresAt !== undefined) checkInstant(given.expiresAt, 'expiresAt')
  else checkInteger(given.ttlMs, 'ttlMs', 1, durationMsMax)
  checkText(given.reason, 'reason', reasonLengthMax)
  checkText(given.author, 'author', nameLengthMax)
  if (given.kind === 'interval') checkInteger(given.ms, 'ms', everyMsMin, durationMsMax)
  else checkInstant(given.at, 'at')
}

function checkKind(kind: HintKind): void {
  if (!hintKinds.includes(kind)) throw invalid('kind', `is ${JSON.stringify(kind)}`, `one of ${hintKinds.join(', ')}`)
}
