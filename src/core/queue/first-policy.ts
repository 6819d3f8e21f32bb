import { defaultPolicy, defaultQueue, type Policy } from './policy.ts'

export interface FirstPolicies {
  /** The ceiling of the queue `default`. */
  readonly defaultMaxConcurrent: number
  /** The policies of the parts' own queues. */
  readonly queues: Readonly<Record<string, Policy>>
}

/**
 * The policy of a new queue. A queue that work names by chance gets the smallest ceiling: a typo must not start a second set of
 * runs at full speed.
 */
export function firstPolicy({ defaultMaxConcurrent, queues }: FirstPolicies, name: string): Policy {
  if (Object.hasOwn(queues, name)) return queues[name] as Policy
  return { ...defaultPolicy, maxConcurrent: name === defaultQueue ? defaultMaxConcurrent : 1 }
}
