import { z } from 'zod'
import type { Outcome } from '../../core/run/verdict.ts'
import { reason } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instant, over } from '../../operations/input/instant.ts'
import { usageInput } from '../../operations/input/money-input.ts'
import { type Problem, refuse } from '../../operations/input/refuse-input.ts'
import { heldLease, refusedEnd } from '../../operations/lease/held-lease.ts'
import { leaseId, runOfLease } from '../../operations/lease/lease-id.ts'
import { everyDoor, operation, subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { runStatuses } from '../../operations/run/run-statuses.ts'
import { type AnswerOf, count, instantOutput, text } from '../../operations/schema/output-schema.ts'
import type { AttemptEnd } from '../../store/port.ts'
import { clockNow } from '../../store/statement.ts'
import { showLeaseEnded } from './show.ts'

const leaseEnded = z.strictObject({
  runId: text('The id of the run.'),
  fence: count('The number of the ended lease.'),
  status: z.enum(runStatuses).describe('The new status of the run.'),
  reason: text('Why.'),
  nextEligibleAt: instantOutput('When it may be tried again.').nullable(),
})

export type LeaseEnded = AnswerOf<typeof leaseEnded>

const ending = {
  noun: 'sched',
  effect: 'write',
  scope: 'operate',
  takes: ['lease'],
  about: runOfLease,
  output: leaseEnded,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
} as const

const usage = usageInput
  .describe('What the attempt used; budgets count it. Without it the attempt counts as what it had reserved.')
  .optional()

const exampleLease = 'r-15.1.7c2f9a3d5e8b41069d3f2a1b4c5d6e7f'

export const complete = operation({
  ...ending,
  verb: 'complete',
  says: 'End a lease: the run is completed.',
  request: 'a completion',
  input: z.strictObject({
    lease: leaseId,
    result: z.unknown().describe('The result: any JSON; beyond 100 KB it is cut and marked.').optional(),
    usage,
  }),
  show: showLeaseEnded,
  examples: [
    { lease: exampleLease },
    { lease: exampleLease, result: { rows: 12 }, usage: { tokensIn: 1_200, tokensOut: 300, money: '0.02USD' } },
  ],
  run: (context, { lease, ...given }) => end(context, lease, { kind: 'success' }, onlyGiven(given)),
})

export const release = operation({
  ...ending,
  verb: 'release',
  says: 'Release a run: cleanly, so that it can be leased again at once, or as failed.',
  request: 'a release',
  input: z.strictObject({
    lease: leaseId,
    failed: z.boolean().describe('The attempt failed; this uses one of its attempts. Default: false.').optional(),
    reason: reason.describe('What went wrong; with failed only.').optional(),
    retryAt: instant
      .describe('When the next attempt may start at the earliest; with failed only, at most an hour ahead.')
      .optional(),
    fatal: z.boolean().describe('No further attempt can succeed; with failed only. Default: false.').optional(),
    retryable: z
      .boolean()
      .describe(
        'The attempt had no effect, so the run may be tried again even if it is not repeatable. Default: false.',
      )
      .optional(),
    usage,
  }),
  show: showLeaseEnded,
  examples: [
    { lease: exampleLease },
    { lease: exampleLease, failed: true, reason: 'HTTP 503 from the mail server', retryAt: '2026-12-01T09:05Z' },
    { lease: exampleLease, failed: true, reason: 'no such customer', fatal: true },
  ],
  async judge(context, { value, problems: found }) {
    const problems = [...found, ...contradictions(value, await context.store.look(clockNow))]
    refuse(subjectOf('a release'), problems)
    const { lease, failed, reason: why, retryAt, fatal, retryable, usage: used } = value
    const given = onlyGiven({ usage: used })
    if (failed !== true) return end(context, lease as string, { kind: 'released' }, given)
    const mended = fatal === true ? { retryable: false } : onlyGiven({ retryable })
    const outcome = { kind: 'failed', reason: why as string, ...mended, ...onlyGiven({ retryAt }) } as const
    return end(context, lease as string, outcome, given)
  },
})

interface Release {
  readonly failed?: boolean | undefined
  readonly reason?: string | undefined
  readonly retryAt?: number | undefined
  readonly fatal?: boolean | undefined
  readonly retryable?: boolean | undefined
}

/** Contradicting fields are refused, not ignored silently. */
function contradictions({ failed, reason: why, retryAt, fatal, retryable }: Release, now: number): Problem[] {
  const problems: Problem[] = []
  if (failed === true) {
    if (why === undefined) problems.push({ field: 'reason', problem: 'is missing', expected: 'what went wrong' })
    if (fatal === true && retryAt !== undefined) problems.push(besideFatal('retryAt'))
    if (fatal === true && retryable === true) problems.push(besideFatal('retryable'))
    if (retryAt !== undefined && retryAt <= now) problems.push(over('retryAt', retryAt, now))
    return problems
  }
  for (const [field, value] of Object.entries({ reason: why, retryAt, fatal, retryable })) {
    if (value === undefined || value === false) continue
    problems.push({ field, problem: 'is given for a clean release', expected: 'it only with failed' })
  }
  return problems
}

function besideFatal(field: string): Problem {
  return { field, problem: 'is given for a failure that is fatal', expected: 'only one of the two' }
}

export const park = operation({
  ...ending,
  verb: 'park',
  says: 'Park a run for a person; it waits until it is reset.',
  request: 'a park',
  input: z.strictObject({ lease: leaseId, reason, usage }),
  show: showLeaseEnded,
  examples: [{ lease: exampleLease, reason: 'The invoice names no customer.' }],
  run: (context, { lease, reason: why, ...given }) => {
    return end(context, lease, { kind: 'parked', reason: why }, onlyGiven(given))
  },
})

async function end(
  context: OperationContext,
  id: string,
  outcome: Outcome,
  given: Pick<AttemptEnd, 'result' | 'usage'> = {},
): Promise<LeaseEnded> {
  const { runId, fence, claimId, scheduleId, mayReserve } = await heldLease(context, id)
  const watched = mayReserve ? { isWatched: true } : {}
  const [settled] = await context.store.settle([{ runId, fence, scheduleId, outcome, ...given, ...watched }])
  void context.waits.look(runId)
  if (settled?.answer !== 'written') throw await refusedEnd(context, { runId, fence, claimId }, settled as never)
  const { status, reason: why, nextEligibleAt = null } = settled
  return { runId, fence, status, reason: why, nextEligibleAt }
}
