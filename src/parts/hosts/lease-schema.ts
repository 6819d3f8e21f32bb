import { z } from 'zod'
import { standsFor } from '../../core/timing/stands-for.ts'
import { runSource } from '../../operations/explain/decision-schema.ts'
import { openOutput } from '../../operations/fields/added-fields.ts'
import { leaseIdOf } from '../../operations/lease/lease-id.ts'
import { runStatuses } from '../../operations/run/run-statuses.ts'
import { type AnswerOf, count, flag, instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { type ExecutionOptions, executionSchema } from '../../operations/target/execution-options.ts'
import { targetStored } from '../../operations/target/target-form.ts'
import type { Lease, LeaseAnswer, LeaseName, Reclaimed } from '../../store/port.ts'

const leasedFields = {
  runId: text('The id of the run.'),
  fence: count('The number of this lease, which is the number of the attempt.'),
  queue: text('Its queue.'),
  attempts: count('Attempts used.'),
  enqueuedAt: instantOutput('When it was created.'),
  scheduleId: text('The id of its schedule.').nullable(),
  plannedAt: instantOutput('Its nominal instant.').nullable(),
  dueAt: instantOutput('When it was due: nominal instant plus spread.').nullable(),
  source: runSource,
  idempotencyKey: text('The same for all attempts: pass it on to any service that must not do the work twice.'),
  repeatable: flag('Whether it is tried again when its effect is unknown.'),
  target: targetStored.nullable(),
  ...executionSchema,
  payload: z.unknown().describe('Its payload.').exactOptional(),
}

export const leasedRun = noted(openOutput('run', leasedFields).describe('A run as its executor needs it.'), {
  id: 'LeasedRun',
})
/** A run as its holder needs it. Secrets in its target are named, not shown. */
export type LeasedRun = AnswerOf<typeof leasedRun>

export const leaseSchema = noted(
  openOutput('run', {
    lease: text('The id of the lease, to renew and end it. Only its holder knows it.'),
    leasedAt: instantOutput('When it was leased.'),
    expiresAt: instantOutput('When it expires, unless it is renewed.'),
    ...leasedFields,
  }).describe('A lease: the right to execute a run until an instant.'),
  { id: 'HostLease' },
)
export type AnsweredLease = AnswerOf<typeof leaseSchema>

export function leasedRunOf(lease: Lease): LeasedRun {
  const { runId, fence, queue, attempts, enqueuedAt, scheduleId, dueAt, source, payload } = lease
  const { repeatable, target, options } = lease
  return {
    runId,
    fence,
    queue,
    attempts,
    enqueuedAt,
    scheduleId,
    plannedAt: standsFor(lease),
    dueAt,
    source,
    idempotencyKey: lease.idempotencyKey ?? runId,
    repeatable,
    target,
    ...(options as ExecutionOptions),
    ...(payload !== undefined && { payload }),
  }
}

export function answeredLeaseOf(lease: Lease): AnsweredLease {
  const { leasedAt, expiresAt } = lease
  return { lease: leaseIdOf(lease), leasedAt, expiresAt, ...leasedRunOf(lease) }
}

export const reclaimedSchema = noted(
  outputOf<Reclaimed>()(
    z
      .strictObject({
        runId: text('The id of the run.'),
        fence: count('The number of the reclaimed lease.'),
        status: z.enum(runStatuses).describe('The new status of the run.'),
        reason: text('Why.'),
        because: z.enum(['expired', 'holder-dead']).describe('Why the lease was reclaimed.'),
        nextEligibleAt: instantOutput('When the run is tried again; absent: it is not.').optional(),
      })
      .describe('A reclaimed lease, and the new state of its run.'),
  ),
  { id: 'Reclaimed' },
)

export const setAsideSchema = z.strictObject({ runId: text('The id of the run.'), reason: text('Why.') })

export type SetAside = AnswerOf<typeof setAsideSchema>

export function setAsideOf({ skipped, broken }: Pick<LeaseAnswer, 'skipped' | 'broken'>): SetAside[] {
  return [...skipped, ...broken].map(({ runId, reason }) => ({ runId, reason }))
}

export const leaseNameSchema = outputOf<LeaseName>()(
  z.strictObject({ runId: text('The id of the run.'), fence: count('The number of the lease.') }),
)
