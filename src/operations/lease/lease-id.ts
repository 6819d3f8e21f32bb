import { z } from 'zod'
import { parseId } from '../../core/id.ts'
import type { Lease, LeaseName } from '../../store/port.ts'
import { noted } from '../schema/schema-note.ts'

/** The parts of a lease id: the run, the number of the lease, and the claim that only its holder knows. */
export type LeaseParts = LeaseName & Pick<Lease, 'claimId'>

/** The highest number of a lease that both databases hold. */
const fenceMax = 2 ** 31 - 1

/** 128 bits, as hex. */
export const claimBytes = 16

const pattern = /^(r-[0-9a-z]+)\.([1-9]\d{0,9})\.([\w-]{1,500})$/

export function leaseIdOf({ runId, fence, claimId }: LeaseParts): string {
  return `${runId}.${fence}.${claimId}`
}

/** The run of a lease, for the audit log: the id is not validated yet. */
export function runOfLease({ lease }: { readonly lease?: unknown }): string {
  return `run ${typeof lease === 'string' ? lease.split('.')[0] : 'unknown'}`
}

export function leasePartsOf(text: string): LeaseParts | null {
  const [, runId, fence, claimId] = pattern.exec(text) ?? []
  if (runId === undefined || fence === undefined || claimId === undefined) return null
  return parseId('run', runId) === null || Number(fence) > fenceMax ? null : { runId, fence: Number(fence), claimId }
}

export const leaseId = noted(
  z.string().refine((text) => leasePartsOf(text) !== null),
  { expected: 'the id of a lease as the lease returned it, such as r-15.1.4f2a…' },
).describe('The id of the lease.')
