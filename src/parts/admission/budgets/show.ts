import { type Resource, resources } from '../../../core/budget/budget.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import type { Column, Facts, Listing, Sheet } from '../../../operations/show.ts'
import type { Budget } from './budget-answer.ts'
import { amountWords, periodWords } from './budget-words.ts'

function leftOf(budget: Budget, { paint }: Sheet): string {
  const words = resources.flatMap((each) => {
    const counted = budget[each]
    if (counted === null) return []
    const rest = amountWords(each, Math.max(0, counted.left), budget.currency ?? '')
    return [counted.left > 0 ? rest : paint.yellow(rest)]
  })
  return words.join(', ')
}

export const budgetsShown: Listing<readonly Budget[], Budget> = {
  none: 'No budgets: nothing limits what runs spend.',
  columns: [
    ['BUDGET', 'name', 'name'],
    ['FOR', 'for', 'text'],
    ['PER', 'per', 'text'],
    ['LEFT', leftOf],
    ['RESET', ({ until }, { when }) => (until === null ? '' : when(until))],
    ['HOLD', 'hold', 'text'],
  ],
}

const label: Readonly<Record<Resource, string>> = {
  runs: 'runs',
  tokens: 'tokens',
  money: 'money',
  runtimeMs: 'runtime',
}

const amountFacts = resources.map(
  (each): Column<Budget> => [
    label[each],
    (budget) => {
      const counted = budget[each]
      if (counted === null) return null
      const words = (amount: number) => amountWords(each, Math.max(0, amount), budget.currency ?? '')
      const { limit, added, used, reserved, left, unknown } = counted
      if (budget.per === 'run') return `${words(limit)} a run`
      const more = added === 0 ? '' : ` and ${words(added)} added`
      const missing =
        unknown === 0 ? '' : `; unknown of ${unknown === 1 ? '1 attempt' : `${unknown} attempts`}, counted as reserved`
      return `${words(left)} left of ${words(limit)}${more} (used ${words(used)}, reserved ${words(reserved)})${missing}`
    },
  ],
)

const enforcedWords: Readonly<Record<Budget['enforced'], string>> = {
  'before-start': 'before a run starts',
  'while-running': 'while a run is at work',
  'where-usage-streams': 'while a run is at work where its usage streams, else after each attempt',
  'after-each-attempt': 'after each attempt, because its usage is known only then',
}

export const budgetShown: Facts<Budget> = {
  head: ({ name, for: of, per }) => `budget ${plainText(name)}  ${of}, ${periodWords[per]}`,
  facts: [
    ...amountFacts,
    ['reserves', reservesOf],
    ['reset', ({ until, zone }, sheet) => (until === null ? null : sheet.inZone(zone).when(until))],
    ['zone', 'zone', 'text'],
    ['enforced', ({ enforced }) => enforcedWords[enforced]],
    ['running', ({ attempts }) => (attempts === 0 ? null : `${attempts} have reserved`)],
    ['hold', 'hold', 'text'],
    ['about', 'description', 'text'],
    ['managed by', 'managedBy', 'text'],
  ],
  below: ({ name, hold }, { command }) =>
    hold === null ? null : `go on before the reset: ${command('budget', 'topup', name)}`,
}

/** What a run reserves, and what is only estimated. */
function reservesOf(budget: Budget): string {
  const known = resources.flatMap((each) => {
    const perRun = budget[each]?.perRun ?? null
    return perRun === null ? [] : [amountWords(each, perRun, budget.currency ?? '')]
  })
  const estimated = resources.filter((each) => budget[each] !== null && budget[each].perRun === null)
  const rest = estimated.map((each) => label[each]).join(', ')
  return [
    ...known,
    ...(rest === ''
      ? []
      : [
          `${rest} as 95 % of the last 20 runs like it used, else as its profile estimates; else such runs start one at a time`,
        ]),
  ].join('; ')
}

export function showPut(budget: Budget, sheet: Sheet): string {
  const { name, for: of, per, until, zone } = budget
  const reset = until === null ? '' : `; its next period begins ${sheet.inZone(zone).when(until)}`
  const when = per === 'run' ? `\n  enforced ${enforcedWords[budget.enforced]}` : ''
  return `budget ${plainText(name)} counts ${of === 'namespace' ? 'every run' : `runs of ${plainText(of)}`} ${periodWords[per]}: ${leftOf(budget, sheet)} left${reset}${when}\n  a run reserves ${reservesOf(budget)}`
}
