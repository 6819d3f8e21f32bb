import { z } from 'zod'
import { left, type Resource, resources, stateAt } from '../../../core/budget/budget.ts'
import { periods } from '../../../core/budget/period.ts'
import { type AnswerOf, count, instantOutput, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { forText } from './budget-scope.ts'
import type { BudgetView } from './write-budget.ts'

const enforcements = ['before-start', 'while-running', 'where-usage-streams', 'after-each-attempt'] as const

const counted = (says: string) =>
  z
    .strictObject({
      limit: count('What may be spent in a period.'),
      added: count('What was added by hand in this period.'),
      used: count('What ended attempts used in this period.'),
      reserved: count('What running attempts have reserved.'),
      left: count('What is left; below 0 where attempts used more than they had reserved.'),
      perRun: count(
        'What a run reserves; null: it is estimated by the last 20 runs like it, else by its profile. Without an estimate runs start one at a time.',
      ).nullable(),
      unknown: count('How many ended attempts did not report it; each counts as what it had reserved.'),
    })
    .describe(says)
    .nullable()

export const budgetSchema = noted(
  z
    .strictObject({
      name: text('Its name.'),
      for: text('Whose runs it counts.'),
      per: z.enum(periods).describe('Its period.'),
      zone: text('The time zone of its periods.'),
      currency: text('The currency of its money.').nullable(),
      runs: counted('Runs; each attempt counts.'),
      tokens: counted('Tokens of input and output together.'),
      money: counted('Money, in millionths of the currency.'),
      runtimeMs: counted('Runtime, in ms.'),
      from: instantOutput('When its current period began; null for a budget per run.').nullable(),
      until: instantOutput('When its next period begins; null for a budget per run.').nullable(),
      attempts: count('How many running attempts have reserved of it.'),
      hold: text('The hold that it has put because it is spent.').nullable(),
      enforced: z
        .enum(enforcements)
        .describe(
          'When it stops a run: before its start; while it runs, because its usage streams; while it runs, where its usage streams; after each attempt.',
        ),
      description: text('What it is for.').nullable(),
      managedBy: text('The config file that manages it.').nullable(),
      version: count('Its version.'),
      createdAt: instantOutput('When it was created.'),
      createdBy: text('Who created it.'),
      updatedAt: instantOutput('When it was changed last.'),
    })
    .describe('What may be spent in a period.'),
  { id: 'Budget' },
)
export type Budget = AnswerOf<typeof budgetSchema>
/** One of the amounts that a budget limits, in the current period. */
export type Counted = NonNullable<Budget['runs']>

export function budgetAnswer(budget: BudgetView, now: number): Budget {
  const { name, terms, attempts, managedBy, version, createdAt, createdBy, updatedAt } = budget
  const { per, zone, currency = null, description = null } = terms
  const isPeriodic = per !== 'run'
  const state = stateAt(terms, budget.state, now)
  const isCurrent = budget.state?.from === state.from
  return {
    ...{ name, for: forText(budget), per, zone, currency, ...amountsOf(budget, now) },
    from: isPeriodic ? state.from : null,
    until: isPeriodic ? state.until : null,
    attempts,
    hold: isCurrent ? budget.holdId : null,
    enforced: enforcedOn(budget),
    ...{ description, managedBy, version, createdAt, createdBy, updatedAt },
  }
}

function amountsOf({ terms, state: saved }: BudgetView, now: number): Record<Resource, Counted | null> {
  const state = stateAt(terms, saved, now)
  const rest = left(terms, state)
  const of = (each: Resource): Counted | null => {
    const limit = terms.limits[each]
    if (limit === undefined) return null
    const unknown = each === 'tokens' || each === 'money' ? state.unknown[each] : 0
    const [added, used, reserved] = [state.added[each], state.used[each], state.reserved[each]]
    const perRun = each === 'runs' ? 1 : (terms.perRun?.[each] ?? null)
    return { limit, added, used, reserved, left: rest[each] ?? 0, perRun, unknown }
  }
  return Object.fromEntries(resources.map((each) => [each, of(each)])) as Record<Resource, Counted | null>
}

/** Handlers report usage as they go; every other kind reports it with its end. */
function enforcedOn({ terms, scope, subject }: BudgetView): Budget['enforced'] {
  if (terms.per !== 'run') return 'before-start'
  if (scope !== 'kind') return 'where-usage-streams'
  return subject === 'handler' || subject.startsWith('handler/') ? 'while-running' : 'after-each-attempt'
}
