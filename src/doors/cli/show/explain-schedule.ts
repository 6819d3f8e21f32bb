import { retriesInWords } from '../../../operations/explain/retries.ts'
import type { ScheduleExplained } from '../../../operations/schedule/explain-output.ts'
import type { HintTold } from '../../../operations/schedule/hint-told.ts'
import type { LedgerTold } from '../../../operations/schedule/ledger-told.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { columns } from '../columns.ts'
import { type Sheet, spellOn } from '../sheet.ts'
import { howLong, relative, when } from '../when.ts'
import { againOf, headOf, on, part, reasonsOf } from './explained.ts'
import { colourOf } from './schedules.ts'

const reasonWidth = 200

/**
 * The answer first: where it stands, what gets it on, when it runs next. Then why, then what came before. Instants are
 * told by the clock of the schedule's own zone where it has one.
 */
export function showScheduleExplained(answer: ScheduleExplained, sheet: Sheet): string {
  const own = { ...sheet, zone: answer.zone ?? sheet.zone }
  const { retries } = answer
  return [
    headOf(answer.schedule, answer, own),
    ...factsOf(answer, own),
    ...part('Why', whyOf(answer, own), own),
    ...part('Retries', retries === null ? [] : [`of a run: ${retriesInWords(retries)}`], own),
    ...part('Hints', hintLines(answer.hints, own), own),
    ...part('Waits for', awaitedLines(answer), own),
    ...part(
      'Note',
      answer.notes.map((note) => plainText(spellOn(own, note))),
      own,
    ),
    ...part(
      'Last',
      answer.last.length === 0
        ? []
        : [
            columns(
              null,
              answer.last.map((row) => lastCells(row, own)),
            ),
          ],
      own,
    ),
  ].join('\n')
}

function factsOf({ next, lateMs }: ScheduleExplained, sheet: Sheet): string[] {
  const guess = next?.isEstimate === true ? ', if the run ended now' : ''
  const isDue = next !== null && next.dueAt <= sheet.now
  const late = lateMs === null || lateMs === 0 || isDue ? [] : [`  should have been looked at ${howLong(lateMs)} ago`]
  const nominal = next === null || next.dueAt === next.at ? '' : `, nominally ${when(next.at, sheet)}`
  if (next === null) return late
  return [...late, `  ${isDue ? 'due' : 'next'} ${when(next.dueAt, sheet)}${nominal}${guess} (${next.source})`]
}

function whyOf(
  { waitsFor, decision, spread, backoff, rederived, ...reasoning }: ScheduleExplained,
  sheet: Sheet,
): string[] {
  // While the run is live nothing can be measured from its end, and the instants of the last answer mean nothing.
  const lines = waitsFor === null ? reasonsOf(reasoning, sheet) : ['a fixed delay counts from the end of that run']
  if (spread !== null && spread.offsetMs !== 0) {
    lines.push(`spread by ${howLong(Math.abs(spread.offsetMs))}: ${plainText(spread.why)}`)
  }
  if (backoff !== null) {
    const { failures, everyMs, waitMs, why } = backoff
    lines.push(`backoff ${howLong(everyMs)} → ${howLong(waitMs)} after ${failures} failed in a row: ${plainText(why)}`)
  }
  if (decision !== null) {
    lines.push(sheet.paint.dim(`decided ${when(decision.at, sheet)} by version ${decision.version} of the schedule`))
  }
  return [...lines, ...againOf(rederived, sheet)]
}

function hintLines(hints: readonly HintTold[], sheet: Sheet): string[] {
  if (hints.length === 0) return []
  const { paint } = sheet
  const rows = hints.map(({ kind, value, counts, why, author, reason, expiresAt }) => [
    kind === 'interval' ? `every ${howLong(value)}` : `once ${when(value, sheet)}`,
    counts ? paint.green('counts') : paint.dim('does not count'),
    counts ? `until ${on(expiresAt, sheet)}` : why,
    `${shortText(author, reasonWidth)}: ${shortText(reason, reasonWidth)}`,
  ])
  return [columns(null, rows)]
}

function awaitedLines({ waitsFor }: ScheduleExplained): string[] {
  return waitsFor === null ? [] : [`${waitsFor.run}  ${waitsFor.code}  ${plainText(waitsFor.sentence)}`]
}

function lastCells(
  { from, count, countIsAtLeast, outcome, why, runId, isRunKept }: LedgerTold,
  sheet: Sheet,
): string[] {
  const { paint, now } = sheet
  const many = count > 1 ? ` (${countIsAtLeast ? 'at least ' : ''}${count} of them)` : ''
  const run = runId === null ? '' : isRunKept === false ? `${runId}, removed by retention` : runId
  return [relative(from, now), colourOf(outcome, paint)(plainText(outcome)), `${plainText(why)}${many}`, run]
}
