import { z } from 'zod'
import { firstPolicy } from '../../core/queue/first-policy.ts'
import {
  type LeasePlan,
  type PlanInput,
  type PlannedRun,
  planLeases,
  type SkipReason,
  skipReasons,
} from '../../core/queue/plan-leases.ts'
import { instant } from '../../operations/input/instant.ts'
import { refuse } from '../../operations/input/refuse-input.ts'
import { everyDoor, operation } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { planInput } from '../../store/reads/plan-input.ts'
import { clockNow } from '../../store/statement.ts'
import { capabilitiesOf, capabilityFields, kindProblems, leasesLimit, queue, queueOf } from './lease-input.ts'
import { showPlan } from './show.ts'

/** A plan reads the first runs of each kind, and counts all runs in flight. */
const windowMax = 1_000
const skippedMax = 100

const planShape = z
  .strictObject({
    now: instantOutput('The instant of the plan.'),
    queue: text('The queue.'),
    exists: flag('Whether the queue exists; until a run or policy names it, its defaults are shown.'),
    maxConcurrent: count('How many of its runs may be at work at once.'),
    inFlight: count('How many are at work, those with expired leases included.'),
    available: count('How many could be leased.'),
    leases: z
      .array(
        z.strictObject({
          runId: text('The id of the run.'),
          priority: count('Lower goes first.'),
          enqueuedAt: instantOutput('When it was created.'),
          attempts: count('How many attempts it has used.'),
          expiresAt: instantOutput('When the lease of a host would expire.'),
        }),
      )
      .describe('The runs that would be leased, in order.'),
    skipped: z
      .array(
        z.strictObject({
          runId: text('The id of the run.'),
          attempts: count('How many attempts it has used.'),
          reason: z.enum(skipReasons).describe('Why.'),
          hold: text('With held-by: the id of the hold.').optional(),
        }),
      )
      .describe(`The runs that would not be leased, in queue order, the first ${skippedMax}.`),
    skippedByReason: z
      .array(z.strictObject({ reason: z.enum(skipReasons).describe('Why.'), count: count('How many.') }))
      .describe('All runs that would not be leased, counted by reason.'),
    reclaimable: z
      .array(z.strictObject({ runId: text('The id of the run.'), expiredAt: instantOutput('When it expired.') }))
      .describe('Expired leases, which keep their slots until they are reclaimed.'),
    wakeAt: instantOutput('The first instant at which the plan may change by itself.').nullable(),
    isWhole: flag('Whether the whole queue was read; of a long one only the first runs of each kind are.'),
  })
  .describe('The runs that would be leased now.')

export type Plan = AnswerOf<typeof planShape>

const planSaid = noted(planShape, { id: 'Plan' })

export const plan = operation({
  noun: 'sched',
  verb: 'plan',
  says: 'Show which runs would be leased now, and why the others would not; change nothing.',
  request: 'a plan',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    queue,
    now: instant.describe('The instant to plan for. Default: now.').optional(),
    limit: leasesLimit.describe(
      'Plan as if at most this many were requested. Default: as many as there are free slots.',
    ),
    ...capabilityFields,
  }),
  takes: [],
  output: planSaid,
  errors: ['invalid'],
  doors: everyDoor,
  show: showPlan,
  examples: [{}, { queue: 'mail', now: '2026-12-01T09:00Z', kinds: ['http'] }],
  async judge(context, { value: given, problems }) {
    refuse('The plan', [...problems, ...kindProblems(given, context.kinds)])
    const name = queueOf(given.queue)
    const window = await windowOf(context, name)
    const now = given.now ?? window.now
    const { kinds, handlers, limit } = given
    // Without any capabilities the caller asks about the queue, not about itself.
    const can = kinds === undefined && handlers === undefined ? undefined : [capabilitiesOf(given)]
    return told(name, { ...window, now }, planLeases({ ...window, now, can, limit }))
  },
})

/** A queue that does not exist yet is planned with its defaults: a host may start before the first run. */
async function windowOf(context: OperationContext, name: string): Promise<Window> {
  const { store } = context
  if ((await store.look(findQueue, name)) !== null)
    return { ...(await store.look(planInput, name, windowMax)), exists: true }
  return {
    now: await store.look(clockNow),
    runs: [],
    policy: firstPolicy(context, name),
    exists: false,
  }
}

interface Window extends PlanInput {
  readonly exists: boolean
}

function told(queueName: string, { now, runs, policy, exists }: Window, planned: LeasePlan): Plan {
  const byId = new Map(runs.map((run) => [run.id, run]))
  const { leases, skipped, inFlight, available, wakeAt } = planned
  const expired = skipped.filter(({ reason }) => reason === 'lease-expired')
  return {
    now,
    queue: queueName,
    exists,
    maxConcurrent: policy.maxConcurrent,
    inFlight,
    available,
    leases: leases.map(({ id, leaseExpiresAt }) => {
      const { priority, enqueuedAt, attempts = 0 } = byId.get(id) as PlannedRun
      return { runId: id, priority, enqueuedAt, attempts, expiresAt: leaseExpiresAt }
    }),
    skipped: skipped.slice(0, skippedMax).map(({ id, ...why }) => {
      return { runId: id, attempts: byId.get(id)?.attempts ?? 0, ...why }
    }),
    skippedByReason: counted(skipped),
    reclaimable: expired.map(({ id }) => ({ runId: id, expiredAt: byId.get(id)?.leaseExpiresAt ?? now })),
    wakeAt,
    isWhole: isWhole(runs),
  }
}

function counted(skipped: LeasePlan['skipped']): Plan['skippedByReason'] {
  const counts = new Map<SkipReason, number>()
  for (const { reason } of skipped) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return skipReasons.flatMap((reason) => {
    const found = counts.get(reason)
    return found === undefined ? [] : [{ reason, count: found }]
  })
}

/** The window has the first runs of each kind; when no kind has as many as the window reads, it has all runs. */
function isWhole(runs: readonly PlannedRun[]): boolean {
  const kinds = new Map<string, number>()
  for (const run of runs) kinds.set(kindOf(run), (kinds.get(kindOf(run)) ?? 0) + 1)
  kinds.delete('leased')
  return [...kinds.values()].every((size) => size < windowMax)
}

function kindOf({ status, nextEligibleAt, notBefore, blockedBy }: PlannedRun): string {
  if (status !== 'ready') return status
  if (blockedBy != null) return 'held'
  return nextEligibleAt != null || notBefore != null ? 'waiting' : 'ready'
}
