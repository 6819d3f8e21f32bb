import type { AccountSpec } from '../../../core/account.ts'
import { left, type SomeAmounts, stateAt, sum } from '../../../core/budget/budget.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import type { WorkBound } from '../../../store/bound-work.ts'
import { canBeName, canonicalJson, checkActor, invalid } from '../../../store/check.ts'
import { liftHold } from '../../../store/holds/lift-hold.ts'
import { markReserving } from '../../../store/leases/lease-row.ts'
import { lockManaged, refuseManaged } from '../../../store/managed.ts'
import type { Actor } from '../../../store/port.ts'
import { freeDeferred } from '../../../store/runs/free-deferred.ts'
import { all, both, clockNow, dialects, freshIds, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { budgetReason } from './budget-hold.ts'
import { type Budget, budgetColumns, budgetOf, budgetsOf, type Terms } from './budget-row.ts'
import { type BudgetFor, forText } from './budget-scope.ts'
import { save } from './reserve-budget.ts'

const insertBudget = both(
  'budget insert',
  `insert into belfry.budget (id, ns, name, scope, subject, terms, version, created_at, created_by, updated_at)
    values ($1, $2, $3, $4, $5, $6, 1, $7, $8, $7) on conflict (ns, name) do nothing returning id`,
)
const named = `select ${budgetColumns} from belfry.budget where ns = $1 and name = $2`
const findNamed = both('budget find', named)
const lockNamed = dialects('budget lock named', { sqlite: named, postgres: `${named} for no key update` })
const updateBudget = both(
  'budget update',
  `update belfry.budget set scope = $2, subject = $3, terms = $4, state = $5, hold_id = null, version = version + 1, updated_at = $6
    where id = $1`,
)
const removeBudget = both('budget remove', 'delete from belfry.budget where id = $1')
const removeReservations = both(
  'budget remove its reservations',
  'delete from belfry.budget_reservation where budget_id = $1',
)
const countReservations = both(
  'budget count reservations',
  `select budget_id, count(*) as attempts from belfry.budget_reservation where ns = $1 and settled_at is null group by budget_id`,
)

const findAccount = both('budget find account', 'select spec from belfry.account where ns = $1 and name = $2')

const markBudgets = both('budget mark', markReserving('budgets'))

export interface NewBudget extends BudgetFor {
  readonly name: string
  readonly terms: Terms
}

interface Writing {
  readonly actor: Actor
  /** The config file that writes, and where in it the budget stands. */
  readonly source?: string
  readonly where?: string
}

export interface BudgetWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly budget: Budget
}

/** Creates or changes a budget. What was used stays counted, unless its period is another one. */
export function* putBudget(
  context: StoreContext,
  wanted: NewBudget,
  { actor, source, where = '' }: Writing,
): Step<BudgetWritten> {
  checkActor(actor)
  const { name, scope, subject, terms } = wanted
  yield* lockManaged(context)
  if (scope === 'account') yield* refuseOtherCurrency(context, wanted, where)
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const text = JSON.stringify(terms)
  const isNew = (yield* one(insertBudget, id, context.ns, name, scope, subject, text, now, actor.name)) !== undefined
  const found = budgetOf((yield* one(lockNamed, context.ns, name)) as never)
  refuseManaged({ noun: 'budget', name, managedBy: found.managedBy }, source)
  const isSame = canonicalJson(saidOf(found)) === canonicalJson(saidOf(wanted))
  if (isSame && !isNew) return { answer: 'unchanged', budget: found }
  yield* run(markBudgets, context.ns, 1)
  if (!isNew) yield* rewrite(context, found, wanted, { actor, now })
  const detail = { for: forText(wanted), ...terms }
  yield* writeAudit(context, { actor, verb: 'budget.put', subject: `budget ${name}`, detail }, now)
  return { answer: isNew ? 'created' : 'updated', budget: (yield* findBudget(context, name)) as Budget }
}

/** Money in another currency than that of its account would count as unknown. */
function* refuseOtherCurrency({ ns }: StoreContext, { subject, terms }: NewBudget, where: string): Step<void> {
  const row = yield* one<{ spec: string }>(findAccount, ns, subject)
  const { currency: own } = JSON.parse(row?.spec ?? '{}') as AccountSpec
  const { currency = own } = terms
  if (own === undefined || currency === own) return
  throw invalid(`${where}money`, `is in ${currency}`, `${own}, the currency of account ${subject}`)
}

function saidOf({ scope, subject, terms }: Pick<NewBudget, 'scope' | 'subject' | 'terms'>): object {
  return { scope, subject, terms }
}

function* rewrite(
  context: StoreContext,
  before: Budget,
  { scope, subject, terms }: NewBudget,
  { actor, now }: { readonly actor: Actor; readonly now: number },
): Step<void> {
  if (before.holdId !== null) yield* liftHold(context, before.holdId, { actor })
  const isOfSamePeriod = before.terms.per === terms.per && before.terms.zone === terms.zone
  const state = stateAt(terms, isOfSamePeriod ? before.state : null, now)
  yield* run(updateBudget, before.id, scope, subject, JSON.stringify(terms), JSON.stringify(state), now)
  yield* save(context, [{ budget: { ...before, scope, subject, terms, holdId: null }, state }], { now })
  yield* freeDeferred(context, budgetReason.code, now)
}

/** Adds to what may be spent in the current period, and lets go what the budget held. */
export function* topUpBudget(
  context: StoreContext,
  name: string,
  { amounts, actor }: { readonly amounts: SomeAmounts; readonly actor: Actor },
): Step<Budget | null> {
  checkActor(actor)
  const budget = yield* lockBudget(context, name)
  if (budget === null) return null
  const now = yield* clockNow()
  const state = stateAt(budget.terms, budget.state, now)
  yield* save(context, [{ budget, state: { ...state, added: sum(state.added, amounts) } }], { now })
  yield* freeDeferred(context, budgetReason.code, now)
  yield* writeAudit(context, { actor, verb: 'budget.topup', subject: `budget ${name}`, detail: amounts }, now)
  return yield* findBudget(context, name)
}

export function* deleteBudget(context: StoreContext, name: string, { actor, source }: Writing): Step<Budget | null> {
  checkActor(actor)
  yield* lockManaged(context)
  const budget = yield* lockBudget(context, name)
  if (budget === null) return null
  refuseManaged({ noun: 'budget', name, managedBy: budget.managedBy }, source)
  if (budget.holdId !== null) yield* liftHold(context, budget.holdId, { actor })
  yield* run(removeReservations, budget.id)
  yield* run(removeBudget, budget.id)
  yield* run(markBudgets, context.ns, (yield* budgetsOf(context.ns)).length === 0 ? 0 : 1)
  const now = yield* clockNow()
  yield* freeDeferred(context, budgetReason.code, now)
  yield* writeAudit(context, { actor, verb: 'budget.delete', subject: `budget ${name}` }, now)
  return budget
}

/** A budget that another part defines together with its work. */
export function* boundByPart(context: StoreContext, { name, of, per, zone, limits, actor }: WorkBound): Step<void> {
  if (limits === null) {
    yield* deleteBudget(context, name, { actor })
    return
  }
  yield* putBudget(context, { name, ...of, terms: { per, zone, limits } }, { actor })
}

function* lockBudget({ ns }: StoreContext, name: string): Step<Budget | null> {
  const row = canBeName(name) ? yield* one(lockNamed, ns, name) : undefined
  return row === undefined ? null : budgetOf(row)
}

export function* findBudget({ ns }: StoreContext, name: string): Step<Budget | null> {
  const row = canBeName(name) ? yield* one(findNamed, ns, name) : undefined
  return row === undefined ? null : budgetOf(row)
}

/** The tokens that are left in a budget in its current period; null where it limits none. */
export function* tokensLeftIn(context: StoreContext, name: string): Step<number | null> {
  const budget = yield* findBudget(context, name)
  if (budget === null) return null
  return left(budget.terms, stateAt(budget.terms, budget.state, yield* clockNow())).tokens ?? null
}

/** A budget, and how many attempts have reserved of it. */
export interface BudgetView extends Budget {
  readonly attempts: number
}

export function* listBudgets({ ns }: StoreContext): Step<BudgetView[]> {
  const counts = yield* all<{ budget_id: number; attempts: number }>(countReservations, ns)
  const attempts = new Map(counts.map((row) => [row.budget_id, Number(row.attempts)]))
  return (yield* budgetsOf(ns)).map((budget) => ({ ...budget, attempts: attempts.get(budget.id) ?? 0 }))
}
