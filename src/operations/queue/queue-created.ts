import { z } from 'zod'
import { firstPolicy } from '../../core/queue/first-policy.ts'
import type { OperationContext } from '../operation-context.ts'
import { text } from '../schema/output-schema.ts'

/** A queue that was not there before it was named, and the ceiling that it got. */
export interface QueueCreated {
  readonly name: string
  readonly maxConcurrent: number
}

export const queueCreatedSchema = z.strictObject({
  name: text('The name of the queue.'),
  maxConcurrent: z.int().describe('Its ceiling.'),
})

/** A queue that work or a schedule names first gets the smallest ceiling, and the answer says so. */
export function createdQueue(context: OperationContext, name: string): QueueCreated {
  return { name, maxConcurrent: firstPolicy(context, name).maxConcurrent }
}
