import { noticesPolicy, noticesQueue } from './notice.ts'
import { defaultPolicy, defaultQueue, type Policy } from './policy.ts'

/**
 * The policy that a queue is created with. A queue that work names by chance gets the smallest ceiling: a typo must not open a
 * second fleet.
 */
export function firstPolicy({ defaultMaxConcurrent }: { readonly defaultMaxConcurrent: number }, name: string): Policy {
  if (name === noticesQueue) return noticesPolicy
  return { ...defaultPolicy, maxConcurrent: name === defaultQueue ? defaultMaxConcurrent : 1 }
}
