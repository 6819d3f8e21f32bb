import { defaultPolicy, type Policy } from '../../../core/queue/policy.ts'

export const inboxQueue = 'inbox'

/** The first policy of the queue. A message whose session died is handed over again as soon as its lease has expired. */
export const inboxPolicy: Policy = Object.freeze({
  ...defaultPolicy,
  maxConcurrent: 1_000,
  leaseTtlMs: 300_000,
  backoffBaseMs: 0,
})

/** A session that has not asked for this long counts as gone. */
export const liveMs = 600_000
/** A session that works on a message cannot ask, so it counts as live for longer. */
export const workingMs = 3_600_000
