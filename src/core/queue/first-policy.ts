import { defaultPolicy, defaultQueue, type Policy } from './policy.ts'

/** What decides how a queue is created. */
export interface FirstPolicies {
  /** The ceiling of the queue `default`. */
  readonly defaultMaxConcurrent: number
  /** The policies of the queues that parts have for themselves. */
  readonly queues: Readonly<Record<string, Policy>>
}

/**
 * The policy that a queue is created with. A queue that work names by chance gets the smallest ceiling: a typo must not open a
 * second fleet.
 */
export function firstPolicy({ defaultMaxConcurrent, queues }: FirstPolicies, name: string): Policy {
  if (Object.hasOwn(queues, name)) return queues[name] as Policy
  return { ...defaultPolicy, maxConcurrent: name === defaultQueue ? defaultMaxConcurrent : 1 }
}
