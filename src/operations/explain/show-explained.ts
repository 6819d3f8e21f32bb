import type { Reason } from '../reasons/catalogue.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { type ScheduleCode, scheduleReasons } from '../reasons/schedule-reasons.ts'
import { plainText, shortText } from '../schedule/plain-text.ts'
import { type Column, indented, type Paint, type Sheet } from '../show.ts'
import type { AppliedRule, Candidate, Reasoning } from './candidates.ts'
import type { Rederived } from './rederive.ts'
import type { Unblock } from './unblock.ts'

const reasonWidth = 200

const colours = { well: 'green', work: 'cyan', waits: 'yellow', wrong: 'red' } as const

/** A code that runs and schedules share has the same tone for both. */
function codeColour(code: RunCode | ScheduleCode, paint: Paint): (text: string) => string {
  const { tone } = ({ ...runReasons, ...scheduleReasons } as Readonly<Record<string, Reason<never>>>)[code] ?? {}
  return paint[colours[tone ?? 'waits']]
}

interface Answered {
  readonly code: RunCode | ScheduleCode
  readonly sentence: string
  readonly unblock: readonly Unblock[]
}

/** The answer in one line, then what would unblock it. */
export function headOf(name: string, { code, sentence, unblock }: Answered, sheet: Sheet): string {
  const { paint } = sheet
  const line = `${paint.bold(plainText(name))}  ${codeColour(code, paint)(code)}  ${plainText(sentence)}`
  const ways = unblock.map(({ what, command, at }) => [
    `- ${whatAndWhen(sheet.spelled(what), at, sheet)}`,
    command === null ? '' : paint.bold(sheet.spelled(command)),
  ])
  return ways.length === 0 ? line : `${line}\n${indented(sheet.aligned(ways))}`
}

/** An instant after a word such as until, from or to. */
export function on(at: number, sheet: Sheet): string {
  return `${sheet.local(at)} (${sheet.relative(at)})`
}

/** An event, with its instant where that is known. */
export function whatAndWhen(what: string, at: number | null, sheet: Sheet): string {
  return at === null ? plainText(what) : `${plainText(what).replace(/\.$/, '')}: ${sheet.when(at)}`
}

/**
 * The candidates, the winner marked; then the rules in their order. The backoff moves a candidate before the comparison, so it
 * is shown with the candidate: on its own line the same instant would appear twice.
 */
export function reasonsOf({ candidates, rules }: Reasoning, sheet: Sheet): string[] {
  const own = candidates.find(({ by }) => by === 'baseline')
  const backoff =
    own === undefined ? undefined : rules.find(({ rule, effect }) => rule === 'backoff' && effect === 'moved')
  const wishes = candidates.map((candidate) =>
    candidateCells(candidate, candidate === own ? backoff : undefined, sheet),
  )
  const others = rules.filter((rule) => rule !== backoff)
  return [...(wishes.length === 0 ? [] : [sheet.aligned(wishes)]), ...others.map((rule) => ruleLine(rule, sheet))]
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
  const whose =
    hint === null ? '' : ` (${hint.by} ${shortText(hint.author, reasonWidth)}: ${shortText(hint.reason, reasonWidth)})`
  const colour = effect === 'won' ? paint.green : paint.dim
  const moved =
    backoff === undefined
      ? ''
      : `; the backoff moved it${backoff.from === null ? '' : ` from ${on(backoff.from, sheet)}`}`
  return [mark, wishers[by], at === null ? '' : sheet.when(at), colour(effect), `${plainText(why)}${whose}${moved}`]
}

function ruleLine({ rule, effect, at, why }: AppliedRule, sheet: Sheet): string {
  const to = effect === 'moved' && at !== null ? ` to ${on(at, sheet)}` : ''
  return `${sheet.paint.yellow(rule)} ${effect} it${to}: ${plainText(why)}`
}

const differences: readonly Column<Rederived['differs'][number]>[] = [
  ['', 'field', 'text'],
  ['', ({ stored }) => `stored: ${plainText(stored)}`],
  ['', ({ again }) => `again: ${plainText(again)}`],
]

/** Whether the decision can be derived again. A difference is shown in full: it should never happen. */
export function againOf({ answer, sentence, differs }: Rederived, { paint, table }: Sheet): string[] {
  if (answer === 'not-asked') return []
  if (answer === 'same') return [paint.dim(plainText(sentence))]
  return [paint.red(plainText(sentence)), ...(differs.length === 0 ? [] : [indented(table(differences, differs))])]
}

export function part(title: string, lines: readonly string[], { paint }: Sheet): string[] {
  return lines.length === 0 ? [] : [`\n${paint.bold(title)}`, indented(lines.join('\n'))]
}
