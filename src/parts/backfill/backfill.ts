import { z } from 'zod'
import { scheduleName } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instant, isoText } from '../../operations/input/instant.ts'
import { type Problem, refusal, refuse } from '../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../operations/not-found.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import { type AnswerOf, instantOutput, text } from '../../operations/schema/output-schema.ts'
import { clockNow } from '../../store/statement.ts'
import { type BackfillAnswer, backfillSchedule } from './backfill-schedule.ts'

const backfilled = z.strictObject({
  schedule: text('The name of the schedule.'),
  from: instantOutput('The start of the range.'),
  to: instantOutput('The exclusive end of the range.'),
  made: z
    .array(
      z.strictObject({
        at: instantOutput('The nominal instant of the run.'),
        run: text('The id of the run.'),
      }),
    )
    .describe('The new runs, oldest instant first, which is the order in which they run.'),
  left: z
    .array(
      z.strictObject({
        at: instantOutput('The nominal instant.'),
        because: z
          .enum(['has-run', 'made-before', 'forgotten', 'due', 'before-start', 'after-end'])
          .describe(
            'Why: it became a run when it was due, an earlier backfill created its run, it is older than the ledger keeps and may have run, it is due and will be fired, or it is before the start or after the end of the schedule.',
          ),
        run: text('The run that it already has.').exactOptional(),
      }),
    )
    .describe('The instants without a new run.'),
  kept: z
    .enum(['held', 'overlap'])
    .describe('Why they do not all start at once: the schedule is paused, or each waits for the previous one.')
    .exactOptional(),
})
/** The result of a backfill. */
export type Backfilled = AnswerOf<typeof backfilled>

export const backfill = operation({
  noun: 'schedule',
  verb: 'backfill',
  idempotent: true,
  says: 'Create runs for past instants of a schedule, once for each, beside its occurrences.',
  request: 'a backfill',
  effect: 'write',
  scope: 'operate',
  rehearses: true,
  takes: ['name'],
  errors: ['invalid', 'not-found', 'quota'],
  doors: everyDoor,
  input: z.strictObject({
    name: scheduleName,
    from: instant.describe('The start of the range.'),
    to: instant.describe('The exclusive end of the range; not after now.'),
    again: z
      .boolean()
      .describe('Create another run for instants that had, or may have had, one. Default: false.')
      .optional(),
  }),
  output: backfilled,
  show: { load: async () => (await import('./show.ts')).showBackfill },
  examples: [
    { name: 'nightly', from: '2026-01-01T00:00Z', to: '2026-01-05T00:00Z' },
    { name: 'nightly', from: '2026-01-04T00:00+01:00', to: '2026-01-07T00:00+01:00', again: true },
  ],
  async judge(context, { value, problems: found }) {
    const { store } = context
    const problems: Problem[] = [...found]
    const { name, from, to, again } = value
    if (from !== undefined && to !== undefined && to <= from) {
      problems.push({
        field: 'to',
        problem: `is ${isoText(to)}`,
        expected: `after \`from\`, which is ${isoText(from)}`,
      })
    }
    const now = await store.look(clockNow)
    if (to !== undefined && to > now) {
      problems.push({
        field: 'to',
        problem: `is ${isoText(to)}, which is in the future`,
        expected: `at most ${isoText(now)}`,
      })
    }
    refuse('The backfill', problems)
    const asked = { from: from as number, to: to as number }
    const answer = await store.do(backfillSchedule, name as string, { ...asked, ...onlyGiven({ again }) })
    if (answer.answer === 'not-found') return throwAbsentSchedule(context, name as string)
    if (answer.answer !== 'made') throw refusal('The backfill', [problemOf(answer)])
    const { answer: _, ...came } = answer
    return { schedule: name as string, ...asked, ...came }
  },
})

const withoutInstants = {
  once: 'runs once',
  delay: 'counts each instant from the end of the previous run, so it has no past instants',
  'no-timing': 'has no timing of its own',
} as const

function problemOf(answer: Extract<BackfillAnswer, { answer: 'too-many' | 'no-instants' }>): Problem {
  if (answer.answer === 'no-instants') {
    const problem = `names a schedule that ${withoutInstants[answer.because]}`
    return { field: 'name', problem, expected: 'one with a cron, or with an interval that counts from the start' }
  }
  const { count, countIsAtLeast, most, fitsUntil } = answer
  const many = `${countIsAtLeast ? 'at least ' : ''}${count.toLocaleString('en')}`
  return {
    field: 'to',
    problem: `is the end of a range of ${many} instants`,
    expected: `at most ${most.toLocaleString('en')} at a time, which ends at ${isoText(fitsUntil)}`,
  }
}
