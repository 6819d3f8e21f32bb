import {
  type BudgetState,
  estimatedIn,
  expected,
  nothing,
  type Reservation,
  type Resource,
  reserve,
  type SomeAmounts,
  shortOf,
  stateAt,
  sum,
  waitsForBlind,
  waitsForReset,
  wanted,
} from '../../../core/budget/budget.ts'
import { parseId } from '../../../core/id.ts'
import type { Estimate, UsageCap } from '../../../core/run/usage.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { all, both, clockNow, dialects, one, runEach, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { heldFor, raiseUsed } from './budget-hold.ts'
import { type Budget, budgetsOf, lockBudgets, reservationColumns, reservationOf, saveBudgets } from './budget-row.ts'
import { type BudgetWork, fits, likeness } from './budget-scope.ts'

/** A reservation of a lease that another worker has taken back would never be settled, so the lease is kept from being taken meanwhile. */
const lockLease = dialects('budget lock lease', {
  sqlite: 'select run_id from belfry.lease where run_id = $1 and fence = $2',
  postgres: 'select run_id from belfry.lease where run_id = $1 and fence = $2 for key share',
})
const findSchedule = both('budget find schedule', 'select name from belfry.schedule where id = $1')
const findHistory = both(
  'budget find history',
  `select tokens_in, tokens_out, money, currency, runtime_ms from belfry.attempt_usage
    where schedule_id = $1 and is_completed = 1 order by at desc limit 20`,
)
const findOfRun = both(
  'budget find of run',
  `select ${reservationColumns} from belfry.budget_reservation where run_id = $1`,
)
const insertReservations = dialects('budget insert reservations', {
  sqlite: `insert into belfry.budget_reservation (run_id, fence, budget_id, ns, from_at, amounts, reserved_at)
    values ($1, $2, $3, $4, $5, $6, $7) on conflict (run_id, fence, budget_id) do nothing`,
  postgres: `insert into belfry.budget_reservation (run_id, fence, budget_id, ns, from_at, amounts, reserved_at)
    select * from unnest($1::bigint[], $2::int[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[])
    on conflict (run_id, fence, budget_id) do nothing`,
})

export interface Reserving {
  readonly runId: string
  readonly fence: number
  readonly scheduleId: string | null
  readonly work: Omit<BudgetWork, 'schedule'>
  /** What its kind expects such a run to use. */
  readonly estimate?: Estimate | undefined
}

export type Reserved =
  | { readonly answer: 'none' }
  /** The lease is another worker's, or over. */
  | { readonly answer: 'lost' }
  | { readonly answer: 'reserved'; readonly caps: readonly UsageCap[] }
  /** `until`: when it is worth asking again; null: never. `isHeld`: a hold keeps its runs until then. */
  | {
      readonly answer: 'short'
      readonly budget: string
      readonly resource: Resource
      readonly until: number | null
      readonly isHeld: boolean
    }
  /** Something is left, and it has to wait for the end of another run because it is not known what either uses. */
  | { readonly answer: 'blind'; readonly budget: string; readonly until: number }

/** What one budget is asked for. */
interface Asked {
  readonly budget: Budget
  readonly state: BudgetState
  readonly amounts: Reservation
  readonly short: readonly Resource[]
}

/**
 * Reserves for an attempt from every budget that counts it, or from none. A budget that is used up by this holds its runs
 * until its reset.
 */
export function* reserveBudgets(context: StoreContext, reserving: Reserving): Step<Reserved> {
  const { runId, fence, scheduleId, work } = reserving
  const id = parseId('run', runId) as number
  const schedule = scheduleId === null ? null : parseId('schedule', scheduleId)
  if ((yield* one(lockLease, id, fence)) === undefined) return { answer: 'lost' }
  const name = schedule === null ? undefined : yield* one<{ name: string }>(findSchedule, schedule)
  const fitting = (yield* budgetsOf(context.ns)).filter((each) => fits(each, { ...work, schedule: name?.name ?? null }))
  const budgets = yield* lockBudgets(fitting.map((budget) => budget.id))
  if (budgets.length === 0) return { answer: 'none' }
  const now = yield* clockNow()
  const asked = yield* askAll(budgets, { ...reserving, id, schedule, now })
  const short = asked.filter((each) => each.short.length > 0)
  if (short.length > 0) return yield* refused(context, short, now)
  const blind = asked.find(({ state, amounts }) => waitsForBlind(state, amounts))
  if (blind !== undefined) return { answer: 'blind', budget: blind.budget.name, until: now + againMs }
  yield* runEach(
    insertReservations,
    asked.map(({ budget, state, amounts }) => {
      return [id, fence, budget.id, context.ns, state.from, JSON.stringify(amounts), now]
    }),
  )
  const after = asked.filter(({ budget }) => budget.terms.per !== 'run')
  yield* save(
    context,
    after.map(({ budget, state, amounts }) => ({ budget, state: reserve(state, amounts) })),
    { now },
  )
  return { answer: 'reserved', caps: asked.flatMap(capOf) }
}

interface Asking extends Pick<Reserving, 'work' | 'estimate'> {
  readonly id: number
  readonly schedule: number | null
  readonly now: number
}

function* askAll(budgets: readonly Budget[], { id, schedule, now, work, estimate }: Asking): Step<Asked[]> {
  const isEstimated = ({ terms }: Budget) => estimatedIn(terms).length > 0
  const history = schedule !== null && budgets.some(isEstimated) ? yield* all<Used>(findHistory, schedule) : []
  const before = budgets.some(({ terms }) => terms.per === 'run') ? (yield* all(findOfRun, id)).map(reservationOf) : []
  return budgets.map((budget) => {
    const { terms } = budget
    const state = terms.per === 'run' ? stateOfRun(budget, before, now) : stateAt(terms, budget.state, now)
    const known = schedule === null ? ofBudget(state, likeness(work)) : ofSchedule(history, terms.currency)
    const amounts = wanted(terms, state, { ...ofKind(estimate, terms.currency), ...known })
    return { budget, state, amounts, short: shortOf(terms, state, amounts) }
  })
}

/** What the attempts of a run were charged so far. */
function stateOfRun(
  { id, terms }: Budget,
  before: readonly ReturnType<typeof reservationOf>[],
  now: number,
): BudgetState {
  const own = before.filter(({ budgetId }) => budgetId === id)
  return { ...stateAt(terms, null, now), used: own.reduce((total, { amounts }) => sum(total, amounts), nothing) }
}

interface Used {
  readonly tokens_in: number | null
  readonly tokens_out: number | null
  readonly money: number | null
  readonly currency: string | null
  readonly runtime_ms: number
}

/** What the last runs of the schedule used; a currency of another budget says nothing. */
function ofSchedule(history: readonly Used[], currency: string | undefined): SomeAmounts {
  return onlyGiven({
    tokens: expected(history.map(({ tokens_in: given, tokens_out: made }) => tokensOf(given, made))),
    money: expected(history.map((used) => (used.currency === currency ? used.money : null))),
    runtimeMs: expected(history.map((used) => used.runtime_ms)),
  })
}

/** What the last runs of the same work used that the budget counted: runs without a schedule have no other history. */
function ofBudget({ recent }: BudgetState, work: string): SomeAmounts {
  const { tokens, money, runtimeMs } = recent?.[work] ?? {}
  return onlyGiven({ tokens: expected(tokens), money: expected(money), runtimeMs: expected(runtimeMs) })
}

function ofKind({ tokens, money, runtimeMs }: Estimate = {}, currency: string | undefined): SomeAmounts {
  return onlyGiven({ tokens, money: money?.currency === currency ? money?.amount : undefined, runtimeMs })
}

export function tokensOf(tokensIn: number | null | undefined, tokensOut: number | null | undefined): number | null {
  return tokensIn == null && tokensOut == null ? null : (tokensIn ?? 0) + (tokensOut ?? 0)
}

/** How long a run waits that cannot start because of other runs' reservations. The end of a run without an estimate frees it sooner. */
const againMs = 30_000
/** How long a run waits that can start only after the reset. A topup could let it start earlier, and no hold announces one. */
const spentAgainMs = 600_000

/**
 * Of several budgets that are short, the one of single runs comes first, because waiting does not help; then one that holds its runs,
 * because the time under its hold does not count towards the run's deferral limit.
 */
function* refused(context: StoreContext, short: readonly Asked[], now: number): Step<Reserved> {
  const periodic = short.filter(({ budget }) => budget.terms.per !== 'run')
  const held = yield* save(context, periodic, { now, isDoubted: true })
  const ofRun = short.find(({ budget }) => budget.terms.per === 'run')
  const first = (ofRun ?? short.find(({ budget }) => held.has(budget.id)) ?? short[0]) as Asked
  const { budget, state, amounts } = first
  const isHeld = held.has(budget.id)
  const againAt = now + (waitsForReset(budget.terms, state, amounts) ? spentAgainMs : againMs)
  const until = isHeld ? now : first === ofRun ? null : Math.min(state.until, againAt)
  return { answer: 'short', budget: budget.name, resource: first.short[0] as Resource, until, isHeld }
}

/** Saves the states of budgets, and puts or lifts their holds accordingly. Returns the budgets that have a hold. */
export function* save(
  context: StoreContext,
  states: readonly { readonly budget: Budget; readonly state: BudgetState }[],
  how: { readonly now: number; readonly isDoubted?: boolean },
): Step<Set<number>> {
  const saved: { id: number; state: BudgetState; holdId: string | null }[] = []
  for (const { budget, state } of states) {
    saved.push({ id: budget.id, state, holdId: yield* heldFor(context, budget, state, how) })
  }
  yield* saveBudgets(saved)
  for (const each of states) yield* raiseUsed(context, each)
  return new Set(saved.flatMap(({ id, holdId }) => (holdId === null ? [] : [id])))
}

/** What a budget per run leaves for this attempt. */
function capOf({ budget: { name, terms }, state }: Asked): UsageCap[] {
  if (terms.per !== 'run') return []
  const { limits, currency = '' } = terms
  const rest = (each: Resource) => (limits[each] === undefined ? undefined : limits[each] - state.used[each])
  const money = rest('money')
  const amount = money === undefined ? undefined : { amount: money, currency }
  return [{ by: `budget ${name}`, tokens: rest('tokens'), money: amount }]
}
