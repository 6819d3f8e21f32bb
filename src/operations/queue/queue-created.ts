import { z } from 'zod'
import { firstPolicy } from '../../core/queue/first-policy.ts'
import type { OperationContext } from '../operation-context.ts'
import { text } from '../schema/output-schema.ts'

/** A queue that this call created, with its ceiling. */
export interface QueueCreated {
  readonly name: string
  readonly maxConcurrent: number
}

export const queueCreatedSchema = z.strictObject({
  name: text('The name of the queue.'),
  maxConcurrent: z.int().describe('Its ceiling of concurrent runs.'),
})

/** A queue that a run or schedule names for the first time gets the smallest ceiling, and the answer says so. */
export function createdQueue(context: OperationContext, name: string): QueueCreated {
  return { name, maxConcurrent: firstPolicy(context, name).maxConcurrent }
}
