import type { AppliedRule, Candidate, Reasoning } from '../../../operations/explain/candidates.ts'
import type { Rederived } from '../../../operations/explain/rederive.ts'
import type { Unblock } from '../../../operations/explain/unblock.ts'
import type { RunCode } from '../../../operations/run/standing-codes.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import type { ScheduleCode } from '../../../operations/schedule/standing-codes.ts'
import { columns, indented } from '../columns.ts'
import { type Paint, type Sheet, spellOn } from '../sheet.ts'
import { local, relative, when } from '../when.ts'

const reasonWidth = 200

/** Codes of what goes well, of what is at work, and of what somebody should look at; all others merely wait. */
const well: ReadonlySet<string> = new Set<RunCode | ScheduleCode>(['completed', 'in-line', 'due-later', 'due-now'])
const atWork: ReadonlySet<string> = new Set<RunCode | ScheduleCode>(['leased', 'waits-for-run'])
const wrong: ReadonlySet<string> = new Set<RunCode | ScheduleCode>([
  'failed',
  'parked',
  'no-worker',
  'holder-dead',
  'lease-expired',
  'policy-unreadable',
  'overdue',
  'broken-chain',
  'cannot-be-worked-out',
])

function codeColour(code: string, paint: Paint): (text: string) => string {
  if (well.has(code)) return paint.green
  if (atWork.has(code)) return paint.cyan
  return wrong.has(code) ? paint.red : paint.yellow
}

interface Answered {
  readonly code: RunCode | ScheduleCode
  readonly sentence: string
  readonly unblock: readonly Unblock[]
}

/** The answer in one line, and under it what would get the thing on. */
export function headOf(name: string, { code, sentence, unblock }: Answered, sheet: Sheet): string {
  const { paint } = sheet
  const line = `${paint.bold(plainText(name))}  ${codeColour(code, paint)(code)}  ${plainText(sentence)}`
  const ways = unblock.map(({ what, command, at }) => [
    `- ${whatAndWhen(spellOn(sheet, what), at, sheet)}`,
    command === null ? '' : paint.bold(plainText(spellOn(sheet, command))),
  ])
  return ways.length === 0 ? line : `${line}\n${indented(columns(null, ways))}`
}

/** An instant behind a word such as until, from or to. */
export function on(at: number, sheet: Sheet): string {
  return `${local(at, sheet)} (${relative(at, sheet.now)})`
}

/** Something that is to happen, and the instant where that is known. */
export function whatAndWhen(what: string, at: number | null, sheet: Sheet): string {
  return at === null ? plainText(what) : `${plainText(what).replace(/\.$/, '')}: ${when(at, sheet)}`
}

/**
 * Who wished for what, the winner marked; then what the rules made of it, in their order. The backoff moves a wish before
 * it is compared with others, and is told with it: beside it, the same instant would stand there twice.
 */
export function reasonsOf({ candidates, rules }: Reasoning, sheet: Sheet): string[] {
  const own = candidates.find(({ by }) => by === 'baseline')
  const backoff =
    own === undefined ? undefined : rules.find(({ rule, effect }) => rule === 'backoff' && effect === 'moved')
  const wishes = candidates.map((candidate) =>
    candidateCells(candidate, candidate === own ? backoff : undefined, sheet),
  )
  const others = rules.filter((rule) => rule !== backoff)
  return [...(wishes.length === 0 ? [] : [columns(null, wishes)]), ...others.map((rule) => ruleLine(rule, sheet))]
}

const wishers: { readonly [By in Candidate['by']]: string } = {
  baseline: 'its timing',
  'interval-hint': 'interval hint',
  'oneshot-hint': 'one-shot hint',
}

function candidateCells(
  { by, at, effect, why, hint }: Candidate,
  backoff: AppliedRule | undefined,
  sheet: Sheet,
): string[] {
  const { paint } = sheet
  const mark = effect === 'won' ? paint.green('→') : ' '
  const whose = hint === null ? '' : ` (${shortText(hint.author, reasonWidth)}: ${shortText(hint.reason, reasonWidth)})`
  const colour = effect === 'won' ? paint.green : paint.dim
  const moved =
    backoff === undefined
      ? ''
      : `; the backoff moved it${backoff.from === null ? '' : ` from ${on(backoff.from, sheet)}`}`
  return [mark, wishers[by], at === null ? '' : when(at, sheet), colour(effect), `${plainText(why)}${whose}${moved}`]
}

function ruleLine({ rule, effect, at, why }: AppliedRule, sheet: Sheet): string {
  const to = effect === 'moved' && at !== null ? ` to ${on(at, sheet)}` : ''
  return `${sheet.paint.yellow(rule)} ${effect} it${to}: ${plainText(why)}`
}

/** Whether the governor still stands by its answer. What differs is told in full: it should never happen. */
export function againOf({ answer, sentence, differs }: Rederived, { paint }: Sheet): string[] {
  if (answer === 'not-asked') return []
  if (answer === 'same') return [paint.dim(plainText(sentence))]
  const line = plainText(sentence)
  const rows = differs.map(({ field, stored, again }) => [
    field,
    `stored: ${plainText(stored)}`,
    `again: ${plainText(again)}`,
  ])
  return [paint.red(line), ...(rows.length === 0 ? [] : [indented(columns(null, rows))])]
}

/** A titled part, or nothing where it has no lines. */
export function part(title: string, lines: readonly string[], { paint }: Sheet): string[] {
  return lines.length === 0 ? [] : [`\n${paint.bold(title)}`, indented(lines.join('\n'))]
}
