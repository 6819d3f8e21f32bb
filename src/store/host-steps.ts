import type { RunStatus } from '../core/run-state.ts'
import type { LeaseAnswer, LeaseName, LeaseRequest } from './port.ts'

export interface HostRequest extends Omit<LeaseRequest, 'workerId'> {
  readonly host: string
  /** Who asks, where that is known: what a key was granted is told to nobody else. */
  readonly by?: string
  /** Who asks again with the same key is told what the first was granted, and gets nothing else. */
  readonly key?: string
}

export type HostLeased =
  | (LeaseAnswer & {
      readonly answer: 'leased'
      /** What the key was granted when it first came; the `leases` are those of them that are held still. */
      readonly repeated?: readonly LeaseName[]
    })
  /** The key came before with another request. */
  | { readonly answer: 'other-request' }

export type Reprioritised =
  | { readonly answer: 'moved' | 'unchanged'; readonly before: number }
  | { readonly answer: 'not-waiting'; readonly status: RunStatus }
  | { readonly answer: 'not-found' }

/** A run that is leased, as a door must know it to tell whether somebody holds what he says he holds. */
export interface HeldRun extends LeaseName {
  readonly queue: string
  readonly claimId: string
  readonly workerId: string
  readonly scheduleId: string | null
  /** How long a host's lease of it lasts by now; `null` where the policy of its queue cannot be read. */
  readonly leaseTtlMs: number | null
  readonly expiresAt: number
}
