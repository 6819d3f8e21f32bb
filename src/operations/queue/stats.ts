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
        countIsAtLeast: flag('Whether there are more that were not counted.'),
      })
      .describe(says),
  )

const statsSaid = noted(
  outputOf<QueueStats>()(
    z
      .strictObject({
        now: instantOutput('When it was looked at.'),
        inFlight: count('How many are at work, those with expired leases included.'),
        inLine: counted('Those that could go as soon as there is room.'),
        waiting: counted('Those that wait for an instant: a backoff, or one that was asked for.'),
        behindKey: counted('Those behind the ceiling of their key.'),
        behindRun: counted('Those behind another run of their schedule.'),
        held: counted('Those whose schedule is paused.'),
        parked: counted('Those that wait for a person.'),
        oldestInLineAt: instantOutput('When the run was made that has been in line longest.').nullable(),
        oldestInLineIsAtLeast: flag('Whether there may be an older one among priorities that were not looked at.'),
        ended: z
          .strictObject({
            completed: counted('Those that were done.'),
            failed: counted('Those that failed for good.'),
            cancelled: counted('Those that somebody ended.'),
            skipped: counted('Those that came too late.'),
          })
          .describe('What has ended in the last minute.'),
        parkedByReason: z
          .array(z.strictObject({ reason: text('Why.'), count: count('How many.') }))
          .describe('Parked runs by their reasons, the most frequent first.'),
      })
      .describe('How full a queue is, and what has come of it lately.'),
  ),
  { id: 'QueueStats' },
)

export const stats = operation({
  noun: 'queue',
  verb: 'stats',
  says: 'Tells how full a queue is, how old its oldest run in line is, and what has ended lately.',
  request: 'a look at the figures of a queue',
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
    // Work that names no queue creates it, so that it is there already, and empty.
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
