import { z } from 'zod'
import { scheduleName } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instant, isoText } from '../../operations/input/instant.ts'
import { type Problem, refusal, refuse } from '../../operations/input/refuse-input.ts'
import { throwAbsentSchedule } from '../../operations/not-found.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import { instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import { clockNow } from '../../store/statement.ts'
import { type BackfillAnswer, backfillSchedule } from './backfill-schedule.ts'

/** What a backfill came to. */
export interface Backfilled extends Omit<Extract<BackfillAnswer, { answer: 'made' }>, 'answer'> {
  readonly schedule: string
  readonly from: number
  readonly to: number
}

const backfilled = outputOf<Backfilled>()(
  z.strictObject({
    schedule: text('The name of the schedule.'),
    from: instantOutput('The first instant that was asked for.'),
    to: instantOutput('The first instant that was not asked for.'),
    made: z
      .array(
        z.strictObject({
          at: instantOutput('The nominal instant that the run stands for.'),
          run: text('The id of the run.'),
        }),
      )
      .describe('The runs that were made, oldest instant first, which is the order in which they go.'),
    left: z
      .array(
        z.strictObject({
          at: instantOutput('The nominal instant.'),
          because: z
            .enum(['has-run', 'made-before', 'forgotten', 'due', 'before-start', 'after-end'])
            .describe(
              'Why: it became a run when its time came, an earlier backfill made it, it is older than the ledger keeps so that it may have run, it is due and about to be fired, or it lies before the start or after the end of the schedule.',
            ),
          run: text('The run that stands for it already.').exactOptional(),
        }),
      )
      .describe('The instants for which nothing was made.'),
    kept: z
      .enum(['held', 'overlap'])
      .describe('Why they do not all go at once: the schedule is paused, or each waits for the one before it.')
      .exactOptional(),
  }),
)

export const backfill = operation({
  noun: 'schedule',
  verb: 'backfill',
  idempotent: true,
  says: 'Makes runs for the instants of a schedule in a stretch of the past, each of them once, beside its occurrences.',
  request: 'a backfill',
  effect: 'write',
  scope: 'operate',
  rehearses: true,
  takes: ['name'],
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  input: z.strictObject({
    name: scheduleName,
    from: instant.describe('The first instant of the stretch.'),
    to: instant.describe('The end of the stretch, itself left out; not after now.'),
    again: z
      .boolean()
      .describe(
        'Whether instants that became runs when their time came, or may have, are done once more. Default: false.',
      )
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
        problem: `is ${isoText(to)}, which is to come`,
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
  once: 'runs once, at an instant of its own',
  delay: 'counts each instant from the end of the run before, so that it has no past instants',
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
    problem: `ends a stretch of ${many} instants`,
    expected: `at most ${most.toLocaleString('en')} at a time, which ends at ${isoText(fitsUntil)}`,
  }
}
