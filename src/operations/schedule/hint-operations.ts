import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import { hintKinds } from '../../core/schedule/hints.ts'
import { authorOf } from '../../store/audit/actor.ts'
import { clearHints as clearHintsOf, setHint } from '../../store/schedules/set-hint.ts'
import { clockNow } from '../../store/statement.ts'
import type { ScheduleView } from '../../store/views.ts'
import { authorKind } from '../explain/decision-schema.ts'
import { scheduleName } from '../fields/basic-fields.ts'
import { inUnits } from '../input/duration-input.ts'
import { inWordsOf, type Problem, quoted } from '../input/refuse-input.ts'
import { throwAbsentSchedule } from '../not-found.ts'
import { operation } from '../operation.ts'
import { omit } from '../schema/brief.ts'
import { type AnswerOf, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { type Column, rehearsed, type Sheet } from '../show.ts'
import { hintInput, readHint } from './hint-input.ts'
import { steering } from './schedule-control.ts'
import { clampedSchema, upcomingRun } from './schedule-schema.ts'
import { type UpcomingRun, upcoming } from './upcoming.ts'

const written = z.strictObject({
  nextRunAt: instantOutput('The next nominal instant, if there is one.').nullable(),
  waitsFor: text('The id of the run whose end the next occurrence waits for.').nullable(),
  clamped: clampedSchema.exactOptional(),
  outrankedBy: authorKind
    .describe('The author of the hint that outranks it: it waits until that ends.')
    .exactOptional(),
  next: z.array(upcomingRun).readonly().describe('The next ten occurrences with the hint.'),
  otherwise: z.array(upcomingRun).readonly().describe('The next ten without it.'),
})

/** A hint that was given, and what it changes. */
export type HintWritten = AnswerOf<typeof written>

const hintWritten = noted(written, { brief: (value: HintWritten) => omit(value, 'next', 'otherwise') })

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
  const first = nextRunAt === null ? waiting : `next: ${when(nextRunAt)}`
  const hinted = sheet.isRehearsal ? `would hint; ${first} ${rehearsed}` : `hinted; ${first}`
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

export const hint = operation({
  ...steering,
  verb: 'hint',
  says: 'Give a schedule a hint for a limited time, replacing the hint of the same kind.',
  request: 'a hint',
  input: hintInput,
  rehearses: true,
  output: hintWritten,
  show: showHintWritten,
  examples: [
    { name: 'nightly', every: '5m', ttl: '2h', reason: 'The release is under way.' },
    { name: 'nightly', at: '2026-01-05T09:20Z', reason: 'The data arrives then.' },
  ],
  async judge(context, reading) {
    const { store, actor } = context
    const now = await store.look(clockNow)
    const given = readHint(reading, { now, author: authorOf(actor) })
    const name = reading.value.name as string
    const translate = (problem: Problem) => inHintWords(problem, reading.given)
    const answer = await inWordsOf('The hint', translate, () => store.do(setHint, name, given))
    if (answer.answer === 'not-found') return throwAbsentSchedule(context, name)
    const { answer: _, before, after, ...written } = answer
    return { ...written, ...nextOf(before, after, now) }
  },
})

/** The store names a hint by its kind, and an interval in ms. */
function inHintWords({ field, problem, expected }: Problem, given: Readonly<Record<string, unknown>>): Problem {
  const { every } = given
  if (field === 'kind') {
    const own = every === undefined ? 'everyMs' : 'every'
    return { field: own, problem: 'is given', expected: expected.replace(/^oneshot/, 'a hint with `at`') }
  }
  if (field === 'expiresAt' && given.expiresAt === undefined) {
    return { field: given.ttlMs === undefined ? 'ttl' : 'ttlMs', problem: problem.replace(/^is in/, 'is'), expected }
  }
  if (field !== 'ms') return { field, problem, expected }
  if (every === undefined) return { field: 'everyMs', problem, expected }
  return { field: 'every', problem: inUnits(problem), expected: inUnits(expected) }
}

export const clearHints = operation({
  ...steering,
  verb: 'clearHints',
  idempotent: true,
  says: 'Clear hints; the schedule continues as if they had never been given.',
  request: 'a clearing of hints',
  input: z.strictObject({
    name: scheduleName,
    kinds: z.array(z.enum(hintKinds)).readonly().describe('The kinds to clear. Default: both.').optional(),
  }),
  output: z.strictObject({
    cleared: z.array(z.enum(hintKinds)).readonly().describe('The kinds of which a hint was cleared.'),
    kept: z.array(authorKind).readonly().describe('The authors of hints of a higher rank, which stay.').exactOptional(),
  }),
  show: ({ cleared, kept }) => {
    const above = kept === undefined ? '' : `; kept: a hint of a higher rank (${kept.join(', ')})`
    return `cleared: ${cleared.join(', ') || 'nothing'}${above}`
  },
  examples: [{ name: 'nightly' }, { name: 'nightly', kinds: ['oneshot'] }],
  async run(context, { name, kinds = hintKinds }) {
    const answer = await context.store.do(clearHintsOf, name, kinds, authorOf(context.actor))
    if (answer.answer === 'not-found') return throwAbsentSchedule(context, name)
    const { cleared, kept } = answer
    if (cleared.length > 0 || kept.length === 0) return { cleared, ...(kept.length > 0 && { kept }) }
    throw new BelfryError('not-allowed', `The hints of ${quoted(name)} are of a higher rank than the caller.`, {
      hint: 'Ask a person to clear them, or wait until they expire.',
      details: { schedule: name, authors: kept },
    })
  },
})
