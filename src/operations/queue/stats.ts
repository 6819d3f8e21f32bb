import { z } from 'zod'
import { defaultQueue } from '../../core/queue/policy.ts'
import { queueStats } from '../../store/reads/queue-stats.ts'
import { clockNow } from '../../store/statement.ts'
import type { Counted, QueueStats } from '../../store/views.ts'
import { queueName } from '../fields/basic-fields.ts'
import { throwAbsentQueue } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { statsShown } from './show.ts'

const counted = (says: string) =>
  outputOf<Counted>()(
    z
      .strictObject({
        count: count('How many.'),
        countIsAtLeast: flag('Whether there are more than were counted.'),
      })
      .describe(says),
  )

const statsSaid = noted(
  outputOf<QueueStats>()(
    z
      .strictObject({
        now: instantOutput('The instant of these figures.'),
        inFlight: count('Runs at work, those with expired leases included.'),
        inLine: counted('Runs that start as soon as there is a slot.'),
        waiting: counted('Runs that wait for an instant: a backoff, or notBefore.'),
        behindKey: counted('Runs that wait for a slot under their concurrency key.'),
        behindRun: counted('Runs that wait for another run of their schedule.'),
        held: counted('Runs whose schedule is paused.'),
        parked: counted('Parked runs: each needs a person.'),
        oldestInLineAt: instantOutput('When the oldest run in line was created.').nullable(),
        oldestInLineIsAtLeast: flag('Whether a priority that was not read may hold an older one.'),
        ended: z
          .strictObject({
            completed: counted('Completed runs.'),
            failed: counted('Runs that failed for good.'),
            cancelled: counted('Cancelled runs.'),
            skipped: counted('Runs skipped because they were too late.'),
          })
          .describe('Runs that ended in the last minute.'),
        parkedByReason: z
          .array(z.strictObject({ reason: text('The reason.'), count: count('How many.') }))
          .describe('Parked runs by reason, the most frequent first.'),
      })
      .describe('How full a queue is, and what ended lately.'),
  ),
  { id: 'QueueStats' },
)

export const stats = operation({
  noun: 'queue',
  verb: 'stats',
  says: 'Show how full a queue is, how old its oldest run in line is, and what ended in the last minute.',
  request: 'a request for queue figures',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({ name: queueName }),
  takes: ['name'],
  output: statsSaid,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  show: statsShown,
  examples: [{ name: 'default' }],
  async run(context, { name }) {
    const { store } = context
    const found = await store.look(queueStats, name)
    if (found !== null) return found
    // The first run without a queue creates `default`, so until then it counts as present and empty.
    return name === defaultQueue ? emptyAt(await store.look(clockNow)) : throwAbsentQueue(context, name)
  },
})

function emptyAt(now: number): QueueStats {
  const none = { count: 0, countIsAtLeast: false }
  return {
    now,
    inFlight: 0,
    inLine: none,
    waiting: none,
    behindKey: none,
    behindRun: none,
    held: none,
    parked: none,
    oldestInLineAt: null,
    oldestInLineIsAtLeast: false,
    ended: { completed: none, failed: none, cancelled: none, skipped: none },
    parkedByReason: [],
  }
}
