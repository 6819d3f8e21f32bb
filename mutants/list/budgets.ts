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
  {
    id: 'burst-of-unknown-cost-starts-at-once',
    hazard: 'Runs whose cost is not known start side by side, and overspend a budget many times over.',
    edits: [['waitsForBlind', '(state.blind ?? 0) > 0', '(state.blind ?? 0) < 0']],
    suites: ['test/core/budget/budget.test.ts', rules],
  },
  {
    id: 'end-of-the-first-frees-nothing',
    hazard: 'Runs that wait for the first of unknown cost go on waiting when it has ended.',
    edits: [['settleCounted', 'yield* freeDeferred({ ...context, ns }, budgetReason.code, now)', '']],
    suites: [rules],
  },
  {
    id: 'lost-run-keeps-the-others-waiting',
    hazard: 'A run of unknown cost that was given back keeps all others of its budget waiting.',
    edits: [['core/budget/budget.ts free', ', ...blindOf(state, reserved, -1)', '']],
    suites: ['test/core/budget/budget.test.ts', rules],
  },
  {
    id: 'topup-adds-nothing',
    hazard: 'A topup is answered and adds nothing, so that work stands still.',
    edits: [['topUpBudget', 'sum(state.added, amounts)', 'state.added']],
    suites: [rules],
  },
  {
    id: 'topup-leaves-deferred-runs',
    hazard: 'Runs that the budget of a tag has deferred wait on after a topup.',
    edits: [['topUpBudget', 'yield* freeDeferred(context, budgetReason.code, now)', '']],
    suites: [rules],
  },
  {
    id: 'budget-per-run-forgets-attempts',
    hazard: 'A budget per run counts one attempt, and a run that fails spends it again and again.',
    edits: [['stateOfRun', 'sum(total, amounts)', 'total']],
    suites: [rules],
  },
  {
    id: 'new-quota-begins-at-0',
    hazard: 'A new quota forgets the runs that its namespace has made in the month.',
    edits: [['countFromNow', 'Number(row?.made ?? 0)', 'Number(row?.made ?? 0) * 0']],
    suites: [quotas],
  },
  {
    id: 'schedules-beyond-the-quota',
    hazard: 'A namespace has more schedules than its quota allows.',
    edits: [['refuseBeyondQuota', 'Number(counts.others) < schedulesMax', 'Number(counts.others) <= schedulesMax']],
    suites: [quotas],
  },
  {
    id: 'schedule-oftener-than-its-namespace-allows',
    hazard: 'A schedule fires more often than everyMin of its namespace allows.',
    edits: [['refuseTooOften', '&& gapMs < everyMinMs', '&& gapMs < 0']],
    suites: [quotas],
  },
  {
    id: 'edit-fires-beyond-the-quota',
    hazard: 'A schedule whose timing is changed while it is due makes a run although the quota is used up.',
    edits: [['fireBefore', '{ ...none, reasons, rooms }', 'Object.assign({}, { reasons, rooms }, none)']],
    suites: [quotas],
  },
  {
    id: 'schedules-made-at-once-pass-the-quota',
    hazard: 'Schedules that are made at the same moment are more than their namespace may have.',
    edits: [['refuseBeyondQuota', 'yield* lockQuota(context)', 'yield* findQuota(context.ns)']],
    suites: [quotas],
  },
  {
    id: 'hint-oftener-than-its-namespace-allows',
    hazard: 'A hint lets a schedule fire more often than everyMin of its namespace allows.',
    edits: [['inBounds', 'wanted.ms >= everyMinMs', 'wanted.ms >= Math.min(everyMinMs, 0)']],
    suites: [quotas],
  },
  {
    id: 'host-starts-beyond-the-budget',
    hazard: 'Outside hosts start what they lease although an account is full or a budget spent.',
    edits: [
      [
        'hosts/lease-to-host.ts refusalOf',
        "if ('defer' in answer) return",
        "if ('defer' in answer && answer.defer.until < 0) return",
      ],
    ],
    suites: ['test/parts/hosts/reserves.test.ts'],
  },
  {
    id: 'file-makes-a-budget-that-counts-nothing',
    hazard: 'A config file makes a budget of money over runs whose cost nothing reports.',
    edits: [['budgetSection', 'if (why !== null)', "if (why === '')"]],
    suites: [programs],
  },
]
