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
import { count, flag, instantOutput, outputOf, text } from '../../operations/schema/output-schema.ts'
import { noted } from '../../operations/schema/schema-note.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { planInput } from '../../store/reads/plan-input.ts'
import { clockNow } from '../../store/statement.ts'
import { capabilitiesOf, capabilityFields, kindProblems, leasesLimit, queue, queueOf } from './lease-input.ts'
import { showPlan } from './show.ts'

export interface PlannedLease {
  readonly runId: string
  readonly priority: number
  readonly enqueuedAt: number
  readonly attempts: number
  readonly expiresAt: number
}

export interface SkippedRun {
  readonly runId: string
  readonly attempts: number
  readonly reason: SkipReason
  /** Under `held-by`: the hold that keeps it. */
  readonly hold?: string | undefined
}

/** Who would go now, who would not and why, and when to ask again. */
export interface Plan {
  readonly now: number
  readonly queue: string
  readonly exists: boolean
  readonly maxConcurrent: number
  readonly inFlight: number
  readonly available: number
  readonly leases: readonly PlannedLease[]
  readonly skipped: readonly SkippedRun[]
  readonly skippedByReason: readonly { readonly reason: SkipReason; readonly count: number }[]
  readonly reclaimable: readonly { readonly runId: string; readonly expiredAt: number }[]
  readonly wakeAt: number | null
  readonly isWhole: boolean
}

/** The first of each kind that a plan looks at; all that is in flight counts beside them. */
const windowMax = 1_000
const skippedMax = 100

const planSaid = noted(
  outputOf<Plan>()(
    z
      .strictObject({
        now: instantOutput('The instant that the plan is for.'),
        queue: text('The queue.'),
        exists: flag('Whether the queue exists; until the first run or setting names it, its defaults are shown.'),
        maxConcurrent: count('How many of its runs may be at work at once.'),
        inFlight: count('How many are, those with expired leases included.'),
        available: count('How many could be handed out.'),
        leases: z
          .array(
            z.strictObject({
              runId: text('The id of the run.'),
              priority: count('Lower goes first.'),
              enqueuedAt: instantOutput('When it was made.'),
              attempts: count('How many attempts it has used.'),
              expiresAt: instantOutput("Until when a host's lease of it would last."),
            }),
          )
          .describe('Those who would go, in their order.'),
        skipped: z
          .array(
            z.strictObject({
              runId: text('The id of the run.'),
              attempts: count('How many attempts it has used.'),
              reason: z.enum(skipReasons).describe('Why.'),
              hold: text('Under held-by: the id of the hold that keeps it.').optional(),
            }),
          )
          .describe(`Those who would not, in queue order, the first ${skippedMax}.`),
        skippedByReason: z
          .array(z.strictObject({ reason: z.enum(skipReasons).describe('Why.'), count: count('How many.') }))
          .describe('All of those, counted.'),
        reclaimable: z
          .array(z.strictObject({ runId: text('The id of the run.'), expiredAt: instantOutput('Since when.') }))
          .describe('Leases that have expired, and keep their slots until somebody takes them back.'),
        wakeAt: instantOutput('The first instant at which time alone may change the plan.').nullable(),
        isWhole: flag('Whether the whole queue was looked at; of a long one only the first of each kind are.'),
      })
      .describe('Who would go now.'),
  ),
  { id: 'Plan' },
)

export const plan = operation({
  noun: 'sched',
  verb: 'plan',
  says: 'Tells who would be handed out now, and why the others would not; changes nothing.',
  request: 'a plan',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    queue,
    now: instant.describe('The instant to plan for. Default: now.').optional(),
    limit: leasesLimit.describe('As if so many were asked for at most. Default: as many as there is room for.'),
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
    // Whoever says nothing of what he can do asks for the queue, not for himself.
    const can = kinds === undefined && handlers === undefined ? undefined : [capabilitiesOf(given)]
    return told(name, { ...window, now }, planLeases({ ...window, now, can, limit }))
  },
})

/** A queue that does not exist yet is planned with its defaults: a host may start before the first work. */
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

/** Of each kind the window has the first; where it is not full of any, it has all. */
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
