import type { HoldScope } from '../src/core/hold.ts'
import { kernelHoldReasons } from '../src/core/hold-reason.ts'
import type { NewHold } from '../src/store/holds/put-hold.ts'

export const actor = { name: 'ada', door: 'test' }

/** What `belfry stop` writes, and what `belfry go` lifts. */
export const stop: NewHold = {
  scope: 'namespace',
  subject: '',
  reason: kernelHoldReasons.stopped,
  note: 'a fire',
  actor,
}
export const stopped = { scope: 'namespace', subject: '', reason: 'stopped' } as const

/** What `belfry hold put` writes. */
export function holdOn(scope: HoldScope, subject: string, more: Partial<NewHold> = {}): NewHold {
  return { scope, subject, reason: kernelHoldReasons.hold, note: 'a test', actor, ...more }
}
