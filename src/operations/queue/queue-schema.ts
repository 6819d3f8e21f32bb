import { z } from 'zod'
import { type Policy, policyFields } from '../../core/queue/policy.ts'
import type { QueueView } from '../../store/views.ts'
import { openOutput } from '../fields/added-fields.ts'
import { outputShape } from '../fields/field-schema.ts'
import { pick } from '../schema/brief.ts'
import { count, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

export const policySchema = noted(
  outputOf<Policy>()(openOutput('queue', outputShape(policyFields)).describe('Policy versions of a queue.')),
  {
    id: 'Policy',
    brief: (policy: Policy) => pick(policy, 'maxConcurrent', 'maxConcurrentPerKey', 'maxAttempts', 'rateLimit'),
  },
)

export interface Queue extends Omit<QueueView, 'createdAt'> {
  /** Null for `default` before the first work: it does not exist yet, and its default policy applies. */
  readonly createdAt: number | null
}

export const queueSchema = noted(
  outputOf<Queue>()(
    z
      .strictObject({
        name: text('The name of the queue.'),
        policy: policySchema
          .nullable()
          .describe('Its policy; null: the stored policy cannot be read, so no run is leased.'),
        policyVersion: count('The version of the policy; each change increments it.'),
        paused: z
          .strictObject({ at: instantOutput('When it was paused.'), reason: text('Why.') })
          .nullable()
          .describe('The pause; no run is leased from a paused queue.'),
        inFlight: count('How many of its runs are at work.'),
        createdAt: instantOutput(
          'When it was created; null: it does not exist yet and has the default policy.',
        ).nullable(),
        managedBy: text('The config source that manages its policy.').exactOptional(),
      })
      .describe('A queue with its policy.'),
  ),
  {
    id: 'Queue',
    version: ({ policyVersion }: Queue) => String(policyVersion),
    brief: (queue: Queue) => pick(queue, 'name', 'inFlight', 'paused', 'policy', 'managedBy'),
  },
)
