import type { EngineContext } from '../../../engine/engine-context.ts'
import type { Begin } from '../../../engine/part.ts'
import type { Part } from '../../../part.ts'
import type { HostStart } from '../../../store/part.ts'
import type { Lease } from '../../../store/port.ts'
import type { Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { accountsUsed } from '../accounts/account-used.ts'
import { tables } from './0022-budgets.ts'
import { quotaTables } from './0026-quotas.ts'
import { budgetReason } from './budget-hold.ts'
import { type BudgetWork, workOf } from './budget-scope.ts'
import { budgetSection } from './budget-section.ts'
import { budgetOperations } from './budget-verbs.ts'
import { budgetsCounting, explainBudgets } from './explain-budget.ts'
import { namespaceOperations } from './namespace-verbs.ts'
import { countMade, everyMinIn, quotaReason, refuseBeyondQuota, runsLeft } from './quota.ts'
import { type Reserved, reserveBudgets } from './reserve-budget.ts'
import { settleEnds } from './settle-ends.ts'
import { sweepReservations, sweepUsage } from './sweep-budgets.ts'
import { usage } from './usage-field.ts'
import { boundByPart, tokensLeftIn } from './write-budget.ts'

/**
 * The reason of a deferral to which a hold belongs. A budget for a tag has no hold, and a run may need more than is left: those deferrals
 * have the reason of the budget itself, and count towards the run's deferral limit.
 */
const heldDeferral = 'budget-spent'

/** Budgets: what may be spent in a period. A run reserves before it starts, and settles when it ends. */
export const budgets = {
  name: 'budgets',
  migrations: [tables, quotaTables],
  fields: { schedule: { usage }, run: { usage } },
  concerns: (lease) => lease.isBudgeted === true,
  begins,
  reserves,
  ended: settleEnds,
  bounds: boundByPart,
  tokensLeft: tokensLeftIn,
  explainsRun: explainBudgets,
  budgetsOf: budgetsCounting,
  heldDeferrals: [heldDeferral],
  config: [budgetSection],
  sweeps: [sweepUsage, sweepReservations],
  quota: { left: runsLeft, made: countMade },
  written: refuseBeyondQuota,
  everyMin: everyMinIn,
  holdReasons: { budget: budgetReason, quota: quotaReason },
  nouns: {
    namespace: {
      says: 'Namespaces: the tenants of a store, and what each may have.',
      plural: 'namespaces',
      operations: namespaceOperations,
      otherWords: {
        namespaces: 'namespace list',
        'namespace ls': 'list',
        'namespace get': 'show',
        quota: 'namespace list',
      },
    },
    budget: {
      says: 'What may be spent in a period: runs, tokens, money, runtime.',
      plural: 'budgets',
      operations: budgetOperations,
      otherWords: {
        budgets: 'budget list',
        'budget ls': 'list',
        'budget add': 'topup',
        'budget create': 'put',
        'budget set': 'put',
        'budget rm': 'delete',
        'budget remove': 'delete',
        costs: 'cost',
        spend: 'cost',
      },
    },
  },
} as const satisfies Part

async function begins(lease: Lease, { store, holdings, executors }: EngineContext): Promise<Begin> {
  const work = workIn(lease, accountsOf(lease).length > 1 ? holdings.get(lease)?.account : undefined)
  const { runId, fence, scheduleId, target } = lease
  const estimate = target === null ? undefined : executors.get(work.kind)?.estimateOf?.(target)
  return beginOf(lease, await store.do(reserveBudgets, { runId, fence, scheduleId, work, estimate }))
}

/** For a run that an outside host has leased, whose usage no executor estimates. */
function* reserves(context: StoreContext, lease: Lease): Step<HostStart> {
  if (lease.isBudgeted !== true) return { go: true }
  const { runId, fence, scheduleId } = lease
  const used = accountsOf(lease).length > 1 ? yield* accountsUsed(context, runId) : []
  const work = workIn(lease, used.find((one) => one.fence === fence)?.account)
  return beginOf(lease, yield* reserveBudgets(context, { runId, fence, scheduleId, work }))
}

/** A single account is known by its name; finding which one of several the attempt used takes a read. */
function accountsOf({ options }: Lease): readonly string[] {
  return (options.account ?? []) as readonly string[]
}

function workIn({ queue, target, options }: Lease, account: string | null | undefined): Omit<BudgetWork, 'schedule'> {
  const { schedule: _, ...work } = workOf({ queue, schedule: null, target, options, account })
  return work
}

function beginOf({ occurrenceAt }: Lease, reserved: Reserved): Begin & HostStart {
  switch (reserved.answer) {
    case 'none':
      return { go: true }
    case 'reserved':
      return { go: true, isWatched: true, caps: reserved.caps }
    case 'lost':
      return { defer: { until: 0, reason: 'its lease is over' } }
    case 'blind':
      return { defer: { until: reserved.until, reason: budgetReason.code } }
    case 'short':
      // Another occurrence follows; other work must not be lost.
      if (occurrenceAt !== null || reserved.until === null) return { skip: budgetReason.code }
      return { defer: { until: reserved.until, reason: reserved.isHeld ? heldDeferral : budgetReason.code } }
  }
}
