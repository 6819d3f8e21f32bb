import { z } from 'zod'
import { type Policy, policyFields } from '../../core/queue/policy.ts'
import type { QueueView } from '../../store/views.ts'
import { openOutput } from '../fields/added-fields.ts'
import { outputShape } from '../fields/field-schema.ts'
import { pick } from '../schema/brief.ts'
import { count, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

export const policySchema = noted(
  outputOf<Policy>()(openOutput('queue', outputShape(policyFields)).describe('The rules of a queue.')),
  {
    id: 'Policy',
    brief: (policy: Policy) => pick(policy, 'maxConcurrent', 'maxConcurrentPerKey', 'maxAttempts', 'rateLimit'),
  },
)

/** A queue as doors show it. */
export interface Queue extends Omit<QueueView, 'createdAt'> {
  /** Null for `default` before the first work: it does not exist yet, and its defaults hold. */
  readonly createdAt: number | null
}

export const queueSchema = noted(
  outputOf<Queue>()(
    z
      .strictObject({
        name: text('The name of the queue.'),
        policy: policySchema.nullable().describe('Null where what is stored cannot be read; nothing goes then.'),
        policyVersion: count('Grows with every change of the policy.'),
        paused: z
          .strictObject({ at: instantOutput('Since when.'), reason: text('Why.') })
          .nullable()
          .describe('That nothing of it is handed out.'),
        inFlight: count('How many of its runs are at work.'),
        createdAt: instantOutput(
          'When it was first named; null where it does not exist yet and its defaults hold.',
        ).nullable(),
        managedBy: text('The source whose file looks after its policy: it is changed there.').exactOptional(),
      })
      .describe('A queue with its policy.'),
  ),
  {
    id: 'Queue',
    version: ({ policyVersion }: Queue) => String(policyVersion),
    brief: (queue: Queue) => pick(queue, 'name', 'inFlight', 'paused', 'policy', 'managedBy'),
  },
)
