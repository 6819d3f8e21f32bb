import { retriesInWords } from '../explain/explain-retries.ts'
import { againOf, headOf, on, part, reasonsOf } from '../explain/show-explained.ts'
import type { Column, Sheet } from '../show.ts'
import type { ExplainedHint } from './explained-hint.ts'
import type { ExplainedLedgerRow } from './explained-ledger.ts'
import { plainText, shortText } from './plain-text.ts'
import type { ScheduleExplained } from './schedule-explained.ts'

const reasonWidth = 200

/** The answer first: its state, what unblocks it, when it runs next. Then the reasons, then the history. Instants are in the schedule's own time zone where it has one. */
export function showScheduleExplained(answer: ScheduleExplained, sheet: Sheet): string {
  const own = sheet.inZone(answer.zone)
  const { retries } = answer
  return [
    headOf(answer.schedule, answer, own),
    ...factsOf(answer, own),
    ...part('Why', whyOf(answer, own), own),
    ...part('Retries', retries === null ? [] : [`of a run: ${retriesInWords(retries)}`], own),
    ...part('Hints', answer.hints.length === 0 ? [] : [own.table(hintColumns, answer.hints)], own),
    ...answer.parts.flatMap(({ title, lines }) =>
      part(
        title,
        lines.map((line) => inZone(own.spelled(line), own)),
        own,
      ),
    ),
    ...part('Waits for', awaitedLines(answer), own),
    ...part('Note', answer.notes.map(own.spelled), own),
    ...part('Last', answer.last.length === 0 ? [] : [own.table(lastOnes, answer.last)], own),
  ].join('\n')
}

/** Lines of parts, with their instants shown in the zone of the reader. */
function inZone(line: string, sheet: Sheet): string {
  return line.replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, (iso) => sheet.local(Date.parse(iso)))
}

function factsOf({ next, lateMs }: ScheduleExplained, sheet: Sheet): string[] {
  const guess = next?.isEstimate === true ? ', if the run ended now' : ''
  const isDue = next !== null && next.dueAt <= sheet.now
  const late = lateMs === null || lateMs === 0 || isDue ? [] : [`  overdue by ${sheet.howLong(lateMs)}`]
  const nominal = next === null || next.dueAt === next.at ? '' : `, nominally ${sheet.when(next.at)}`
  if (next === null) return late
  return [...late, `  ${isDue ? 'due' : 'next'} ${sheet.when(next.dueAt)}${nominal}${guess} (${next.source})`]
}

function whyOf(
  { waitsFor, decision, spread, backoff, rederived, ...reasoning }: ScheduleExplained,
  sheet: Sheet,
): string[] {
  // While the run is live nothing can be measured from its end, so the instants of the last decision mean nothing.
  const lines = waitsFor === null ? reasonsOf(reasoning, sheet) : ['the interval counts from the end of that run']
  if (spread !== null && spread.offsetMs !== 0) {
    lines.push(`spread by ${sheet.howLong(Math.abs(spread.offsetMs))}: ${plainText(spread.why)}`)
  }
  if (backoff !== null) {
    const { failures, everyMs, waitMs, why } = backoff
    lines.push(
      `backoff ${sheet.howLong(everyMs)} → ${sheet.howLong(waitMs)} after ${failures} failed in a row: ${plainText(why)}`,
    )
  }
  if (decision !== null) {
    // An occurrence that is kept from becoming a run until an instant is planned as of that instant.
    const decided = decision.at > sheet.now ? 'postponed to' : 'decided'
    lines.push(sheet.paint.dim(`${decided} ${sheet.when(decision.at)} by version ${decision.version} of the schedule`))
  }
  return [...lines, ...againOf(rederived, sheet)]
}

const hintColumns: readonly Column<ExplainedHint>[] = [
  [
    '',
    ({ kind, value }, { howLong, when }) => (kind === 'interval' ? `every ${howLong(value)}` : `once ${when(value)}`),
  ],
  ['', ({ counts }, { paint }) => (counts ? paint.green('active') : paint.dim('inactive'))],
  ['', ({ counts, expiresAt, why }, sheet) => (counts ? `until ${on(expiresAt, sheet)}` : why)],
  ['', ({ by, author, reason }) => `${by} ${shortText(author, reasonWidth)}: ${shortText(reason, reasonWidth)}`],
]

function awaitedLines({ waitsFor }: ScheduleExplained): string[] {
  return waitsFor === null ? [] : [`${waitsFor.run}  ${waitsFor.code}  ${plainText(waitsFor.sentence)}`]
}

const lastOnes: readonly Column<ExplainedLedgerRow>[] = [
  ['', 'from', 'relative'],
  ['', 'outcome', 'status'],
  [
    '',
    ({ why, count, countIsAtLeast }) =>
      plainText(why) + (count > 1 ? ` (${countIsAtLeast ? 'at least ' : ''}${count} of them)` : ''),
  ],
  ['', ({ runId, isRunKept }) => (isRunKept === false ? `${runId}, removed by retention` : runId)],
]
