import { z } from 'zod'
import { parseId } from '../../core/id.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { fenceMax } from '../../store/leases/fence.ts'
import type { Lease, LeaseName } from '../../store/port.ts'

/** What names a lease: its run, its number among the leases of that run, and what only its holder was told. */
export type LeaseParts = LeaseName & Pick<Lease, 'claimId'>

/** 128 bits, as hex. */
export const claimBytes = 16

const pattern = /^(r-[0-9a-z]+)\.([1-9]\d{0,9})\.([\w-]{1,500})$/

export function leaseIdOf({ runId, fence, claimId }: LeaseParts): string {
  return `${runId}.${fence}.${claimId}`
}

/** The run that a lease is of, for the audit: the id is not judged yet. */
export function runOfLease({ lease }: { readonly lease?: unknown }): string {
  return `run ${typeof lease === 'string' ? lease.split('.')[0] : 'unknown'}`
}

export function leasePartsOf(text: string): LeaseParts | null {
  const [, runId, fence, claimId] = pattern.exec(text) ?? []
  if (runId === undefined || fence === undefined || claimId === undefined) return null
  return parseId('run', runId) === null || Number(fence) > fenceMax ? null : { runId, fence: Number(fence), claimId }
}

/** The id of a lease, in an input. */
export const leaseId = noted(
  z.string().refine((text) => leasePartsOf(text) !== null),
  { expected: 'the id of a lease as it was handed out, such as r-15.1.4f2a…' },
).describe('The id of the lease.')
