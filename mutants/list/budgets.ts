import type { Mutant } from '../mutant.ts'

const rules = 'test/parts/admission/budgets/reserve.test.ts'
const quotas = 'test/parts/admission/budgets/quota.test.ts'
const programs = 'test/parts/admission/budgets/library.test.ts'

/** Budgets and quotas that let more be spent than there is, or keep what nobody uses. */
export const budgets: readonly Mutant[] = [
  {
    id: 'budget-does-not-count-reservations',
    hazard: 'Runs that are at work at once spend more than a budget has.',
    edits: [['core/budget/budget.ts reserve', 'reserved: sum(state.reserved, amounts)', 'reserved: state.reserved']],
    suites: ['test/core/budget/budget.test.ts', rules],
  },
  {
    id: 'lost-attempt-keeps-its-reservation',
    hazard: 'What the attempts of killed workers had reserved is never given back, and a budget is spent by nothing.',
    edits: [['settleEnds', " || outcome === 'lost'", '']],
    suites: [rules],
  },
  {
    id: 'spent-budget-lets-occurrences-fire',
    hazard: 'Occurrences under a spent budget become runs, which all start at its reset.',
    edits: [['budgetReason', "firing: 'skips'", "firing: 'waits'"]],
    suites: [rules],
  },
  {
    id: 'unknown-money-is-free',
    hazard: 'Runs that do not report what they cost are counted as free.',
    edits: [['core/budget/budget.ts charged', 'money: money ?? reserved.money', 'money: money ?? 0']],
    suites: ['test/core/budget/budget.test.ts', rules],
  },
  {
    id: 'foreign-money-counts-as-own',
    hazard: 'Money of another currency is taken for that of the budget.',
    edits: [['spentBy', 'usage.money?.currency === currency', 'usage.money !== undefined']],
    suites: [rules],
  },
  {
    id: 'spent-budget-starts-what-seems-free',
    hazard: 'Where nothing is known of what a run uses, it starts although the budget is spent.',
    edits: [['shortOf', 'Math.max(amounts[each], 1)', 'amounts[each]']],
    suites: ['test/core/budget/budget.test.ts', rules],
  },
  {
    id: 'reclaimed-lease-reserves',
    hazard: 'A worker whose lease was taken back reserves, and nothing ever settles that.',
    edits: [['reserveBudgets', "return { answer: 'lost' }", 'yield* clockNow()']],
    suites: [rules],
  },
  {
    id: 'older-period-lowers-the-new-one',
    hazard: 'An attempt that began before a reset gives back what others have reserved after it.',
    edits: [['settledBy', 'reservation.from !== state.from', 'reservation.from > state.from']],
    suites: [rules],
  },
  {
    id: 'worker-asks-no-budget',
    hazard: 'Workers start runs without asking the budgets of their namespace.',
    edits: [['budgets/part.ts budgets', 'lease.isBudgeted === true', 'lease.isBudgeted !== true && lease.fence === 0']],
    suites: [programs],
  },
  {
    id: 'capped-run-goes-on',
    hazard: 'A run that has used more than a budget per run allows goes on spending.',
    edits: [['LeasedAttempt', "if (holding.overCap !== null) stopHolding(holding, 'budget')", '']],
    suites: [programs],
  },
  {
    id: 'raised-quota-lets-schedules-wait',
    hazard: 'Schedules wait for the next month although the quota of their namespace was raised.',
    edits: [['setNamespace', 'yield* wakePostponed(own, { from: monthAt(before.spec, now).until, now })', '']],
    suites: [quotas],
  },
  {
    id: 'quota-refuses-nothing',
    hazard: 'A namespace makes more runs in a month than its quota allows.',
    edits: [['countMade', 'made > max ?', 'made > max + runs ?']],
    suites: [quotas],
  },
  {
    id: 'quota-is-passed-by-one-step',
    hazard: 'Schedules that are due at once make more runs than the quota has left.',
    edits: [['allTurns', 'turn.fires.length > room.left', 'turn.fires.length > room.left + 100']],
    suites: [quotas],
  },
  {
    id: 'plain-runs-are-not-counted',
    hazard: 'On PostgreSQL runs that only need a place in line pass the quota of their namespace.',
    edits: [['enqueuePlainly', "countsRuns('$1')} = 0", "countsRuns('$1')} >= 0"]],
    suites: [quotas],
  },
]
