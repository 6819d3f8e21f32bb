import { z } from 'zod'
import type { Policy } from '../../core/policy.ts'
import type { QueueView } from '../../store/view.ts'
import { noted } from '../note.ts'
import { notifyAnswered } from '../notify-input.ts'
import { count, instantSaid, outputOf, text } from '../output.ts'

export const policySaid = noted(
  outputOf<Policy>()(
    z
      .strictObject({
        maxConcurrent: count('How many runs are at work at once, over all workers.'),
        maxConcurrentPerKey: count('How many runs with the same concurrencyKey are at work at once.').optional(),
        maxAttempts: count('How often a run is tried.'),
        leaseTtlMs: count("How long an outside host's lease lasts, in ms."),
        backoffBaseMs: count('The wait before the second attempt, in ms.'),
        backoffFactor: z.number().describe('By how much each wait is longer than the one before.'),
        backoffCapMs: count('The longest wait between attempts, in ms.'),
        backoffSpread: z.number().describe('The largest part of its wait that a run is spared.').optional(),
        rateLimit: z
          .strictObject({
            startsMax: count('How many runs may start in that time.'),
            perMs: count('The time in which they are counted, in ms.'),
          })
          .describe('How many runs may start in any stretch of time.')
          .optional(),
        onExhausted: z
          .enum(['park', 'fail'])
          .describe('What becomes of a run that has used all its attempts.')
          .optional(),
        retention: z
          .strictObject({
            completedMs: count('How long completed, cancelled and skipped runs are kept, in ms.'),
            failedMs: count('How long failed runs are kept, in ms.'),
            ledgerMs: count('How long the history of schedules is kept, in ms.'),
            endedRunsMax: count('How many ended runs are kept.'),
            parkedMs: count('How long parked runs are kept, in ms; without it for ever.').optional(),
          })
          .describe('How long what has ended is kept.'),
      })
      .describe('The rules of a queue.'),
  ),
  { id: 'Policy' },
)

/** A queue as doors show it. */
export interface Queue extends Omit<QueueView, 'createdAt'> {
  /** Null for `default` before the first work: it does not exist yet, and its defaults hold. */
  readonly createdAt: number | null
}

export const queueSaid = noted(
  outputOf<Queue>()(
    z
      .strictObject({
        name: text('The name of the queue.'),
        policy: policySaid.nullable().describe('Null where what is stored cannot be read; nothing goes then.'),
        policyVersion: count('Grows with every change of the policy.'),
        paused: z
          .strictObject({ at: instantSaid('Since when.'), reason: text('Why.') })
          .nullable()
          .describe('That nothing of it is handed out.'),
        notify: notifyAnswered.exactOptional(),
        inFlight: count('How many of its runs are at work.'),
        createdAt: instantSaid(
          'When it was first named; null where it does not exist yet and its defaults hold.',
        ).nullable(),
        managedBy: text('The source whose file looks after its policy: it is changed there.').exactOptional(),
      })
      .describe('A queue with its policy.'),
  ),
  { id: 'Queue' },
)
