import type { EngineContext } from '../../../engine/engine-context.ts'
import type { Begin } from '../../../engine/part.ts'
import type { Part } from '../../../part.ts'
import type { Lease } from '../../../store/port.ts'
import { tables } from './0022-budgets.ts'
import { quotaTables } from './0026-quotas.ts'
import { budgetReason } from './budget-hold.ts'
import { workOf } from './budget-scope.ts'
import { budgetSection } from './budget-section.ts'
import { budgetOperations } from './budget-verbs.ts'
import { budgetsCounting, explainBudgets } from './explain-budget.ts'
import { namespaceOperations } from './namespace-verbs.ts'
import { countMade, quotaReason, refuseBeyondQuota, runsLeft } from './quota.ts'
import { reserveBudgets } from './reserve-budget.ts'
import { settleEnds } from './settle-ends.ts'
import { sweepReservations, sweepUsage } from './sweep-budgets.ts'
import { usage } from './usage-field.ts'
import { boundByPart } from './write-budget.ts'

/** Budgets: what may be spent in a period. A run reserves before it starts, and settles when it ends. */
export const budgets = {
  name: 'budgets',
  migrations: [tables, quotaTables],
  fields: { schedule: { usage }, run: { usage } },
  concerns: (lease) => lease.isBudgeted === true,
  begins,
  ended: settleEnds,
  bounds: boundByPart,
  explainsRun: explainBudgets,
  budgetsOf: budgetsCounting,
  heldDeferrals: [budgetReason.code],
  config: [budgetSection],
  sweeps: [sweepUsage, sweepReservations],
  quota: { left: runsLeft, made: countMade },
  written: refuseBeyondQuota,
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

async function begins(lease: Lease, { store, holdings }: EngineContext): Promise<Begin> {
  const { runId, fence, scheduleId, queue, target, options, occurrenceAt } = lease
  // Of a single account its name is known; a look for the one of several costs more.
  const names = (options.account ?? []) as readonly string[]
  const account = names.length > 1 ? holdings.get(lease)?.account : undefined
  const { schedule: _, ...work } = workOf({ queue, schedule: null, target, options, account })
  const reserved = await store.do(reserveBudgets, { runId, fence, scheduleId, work })
  switch (reserved.answer) {
    case 'none':
      return { go: true }
    case 'reserved':
      return { go: true, isWatched: true, caps: reserved.caps }
    case 'lost':
      return { defer: { until: 0, reason: 'its lease is over' } }
    case 'short':
      // Another occurrence follows; other work must not be lost.
      if (occurrenceAt !== null || reserved.until === null) return { skip: budgetReason.code }
      return { defer: { until: reserved.until, reason: budgetReason.code } }
  }
}
