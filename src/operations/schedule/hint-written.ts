import { z } from 'zod'
import { type AuthorKind, rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import type { Clamped } from '../../core/schedule/hint-bounds.ts'
import type { ScheduleView } from '../../store/views.ts'
import { authorKind } from '../explain/decision-schema.ts'
import { omit } from '../schema/brief.ts'
import { instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Column, Sheet } from '../show.ts'
import { upcomingRun } from './schedule-schema.ts'
import { type UpcomingRun, upcoming } from './upcoming.ts'

/** A hint that was given, and what it changes. */
export interface HintWritten {
  readonly nextRunAt: number | null
  readonly waitsFor: string | null
  readonly clamped?: Clamped
  readonly outrankedBy?: AuthorKind
  /** The next occurrences with it, and without. */
  readonly next: readonly UpcomingRun[]
  readonly otherwise: readonly UpcomingRun[]
}

const clamped = z
  .strictObject({
    field: z.enum(['every', 'until']).describe('The field.'),
    from: z.int().nullable().describe('The requested value, in ms; null: without end.'),
    to: z.int().describe('The value in force.'),
    why: text('Why, in words.'),
  })
  .describe('What a bound moved, if one did.')

export const hintWritten = noted(
  outputOf<HintWritten>()(
    z.strictObject({
      nextRunAt: instantOutput('The next nominal instant, if there is one.').nullable(),
      waitsFor: text('The id of the run whose end the next occurrence waits for.').nullable(),
      clamped: clamped.exactOptional(),
      outrankedBy: authorKind
        .describe('The author of the hint that outranks it: it waits until that ends.')
        .exactOptional(),
      next: z.array(upcomingRun).readonly().describe('The next ten occurrences with the hint.'),
      otherwise: z.array(upcomingRun).readonly().describe('The next ten without it.'),
    }),
  ),
  { brief: (value: HintWritten) => omit(value, 'next', 'otherwise') },
)

const shownMax = 10

/** The next occurrences of a schedule with a hint and without it. */
export function nextOf(
  before: ScheduleView,
  after: ScheduleView,
  now: number,
): Pick<HintWritten, 'next' | 'otherwise'> {
  return {
    next: upcoming({ now, schedule: after, count: shownMax }),
    otherwise: upcoming({ now, schedule: before, count: shownMax }),
  }
}

/** When the next run is; in a dry run also the next ten with the hint and without it. */
export function showHintWritten(written: HintWritten, sheet: Sheet): string {
  const { nextRunAt, waitsFor, clamped: moved, outrankedBy, next, otherwise } = written
  const { when, howLong } = sheet
  const told = [
    moved === undefined ? [] : `every ${howLong(moved.to)} instead of ${howLong(moved.from ?? 0)}: ${moved.why}`,
    outrankedBy === undefined ? [] : `it waits: a hint of ${rankNames[rankOf(outrankedBy)]} outranks it`,
  ].flat()
  const waiting = waitsFor === null ? 'no next occurrence' : `the next occurrence waits for the end of ${waitsFor}`
  const hinted = `hinted; ${nextRunAt === null ? waiting : `next: ${when(nextRunAt)}`}`
  const rows = Array.from({ length: Math.max(next.length, otherwise.length) }, (_, index) => index)
  const instant = (run: UpcomingRun | undefined) => (run === undefined ? '-' : sheet.inZone(run.zone).stamp(run.at))
  const columns: readonly Column<number>[] = [
    ['WITH IT', (index) => instant(next[index])],
    ['', (index) => next[index]?.source ?? ''],
    ['WITHOUT IT', (index) => instant(otherwise[index])],
    ['', (index) => otherwise[index]?.source ?? ''],
  ]
  return [hinted, ...told.map((line) => `  ${line}`), ...(sheet.isRehearsal ? [sheet.table(columns, rows)] : [])].join(
    '\n',
  )
}
