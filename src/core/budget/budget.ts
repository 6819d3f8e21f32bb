import { type Period, periodAt } from './period.ts'

/** What a budget counts: runs, tokens, millionths of money, ms of runtime. All amounts are integers. */
export const resources = ['runs', 'tokens', 'money', 'runtimeMs'] as const
export type Resource = (typeof resources)[number]
export type Amounts = Readonly<Record<Resource, number>>
export type SomeAmounts = Readonly<Partial<Amounts>>

export const nothing: Amounts = { runs: 0, tokens: 0, money: 0, runtimeMs: 0 }

export interface BudgetTerms {
  readonly per: Period
  readonly zone: string
  /** What may be spent in a period; what is absent is not limited. */
  readonly limits: SomeAmounts
  /** What a run reserves; what is absent is estimated. */
  readonly perRun?: SomeAmounts | undefined
}

/** What has become of the budget of a period. */
export interface BudgetState {
  readonly from: number
  readonly until: number
  readonly used: Amounts
  readonly reserved: Amounts
  /** Added by hand to the limits of this period. */
  readonly added: Amounts
  /** How many ended attempts reported no tokens, and no money. They are counted with what they had reserved. */
  readonly unknown: { readonly tokens: number; readonly money: number }
}

/** The state at an instant: of the period that this instant lies in. What older reservations come to counts for their own period. */
export function stateAt(terms: BudgetTerms, state: BudgetState | null, now: number): BudgetState {
  const { per, zone } = terms
  // A clock that was set back does not begin an older period anew.
  if (state !== null && now < state.until) return state
  const { from, until } = periodAt({ per, zone, at: now }) ?? { from: 0, until: Number.MAX_SAFE_INTEGER }
  return { from, until, used: nothing, reserved: nothing, added: nothing, unknown: { tokens: 0, money: 0 } }
}

/** What is left of each limited resource; below 0 where runs used more than they had reserved. */
export function left({ limits }: BudgetTerms, { used, reserved, added }: BudgetState): SomeAmounts {
  return limited(limits, (each, limit) => limit + added[each] - used[each] - reserved[each])
}

/**
 * What a run reserves: what the budget says, else what the schedule's last runs used, else nothing but the run itself. It is at
 * most the whole budget of a period, so that a run that was dearer once may still start.
 */
export function wanted(terms: BudgetTerms, { added }: BudgetState, estimate: SomeAmounts): Amounts {
  const { limits, perRun = {} } = terms
  const of = (each: Resource) => {
    const amount = perRun[each] ?? estimate[each] ?? 0
    const limit = limits[each]
    return limit === undefined ? amount : Math.min(amount, limit + added[each])
  }
  return { runs: 1, tokens: of('tokens'), money: of('money'), runtimeMs: of('runtimeMs') }
}

/** Which resources cannot cover an amount; empty: all can. */
export function shortOf(terms: BudgetTerms, state: BudgetState, amounts: Amounts): Resource[] {
  const rest = left(terms, state)
  return resources.filter((each) => rest[each] !== undefined && rest[each] < Math.max(amounts[each], 1))
}

/** Which resource cannot cover even the smallest reservation, so that no run may start. */
export function spentOn(terms: BudgetTerms, state: BudgetState): Resource | null {
  const smallest = { ...nothing, ...terms.perRun, runs: 1 }
  return shortOf(terms, state, wanted(terms, state, smallest))[0] ?? null
}

const nearlyUsed = 0.8

/** How far a period's budget is used, in the steps that people are notified of. What is only reserved may come back, and does not count. */
export function usedLevel(terms: BudgetTerms, state: BudgetState): 0 | 80 | 100 {
  const settled = { ...state, reserved: nothing }
  if (spentOn(terms, settled) !== null) return 100
  const { limits } = terms
  const isNear = (each: Resource) => {
    const limit = limits[each]
    return limit !== undefined && state.used[each] >= nearlyUsed * (limit + state.added[each])
  }
  return resources.some(isNear) ? 80 : 0
}

/** Whether the period's end is all to wait for: what is reserved would not be enough, even if all of it came back. */
export function waitsForReset(terms: BudgetTerms, state: BudgetState, amounts: Amounts): boolean {
  return shortOf(terms, { ...state, reserved: nothing }, amounts).length > 0
}

export function reserve(state: BudgetState, amounts: Amounts): BudgetState {
  return { ...state, reserved: sum(state.reserved, amounts) }
}

/** What an attempt came to: `null` where it was not reported. */
export interface Spent {
  readonly runs: number
  readonly tokens: number | null
  readonly money: number | null
  readonly runtimeMs: number
}

/** What is charged for an attempt: what is unknown counts as what was reserved for it, never as nothing. */
export function charged(reserved: Amounts, spent: Spent): Amounts {
  const { runs, tokens, money, runtimeMs } = spent
  return { runs, tokens: tokens ?? reserved.tokens, money: money ?? reserved.money, runtimeMs }
}

/** A reservation becomes what the attempt is charged. */
export function settle(
  terms: BudgetTerms,
  state: BudgetState,
  { reserved, spent }: { readonly reserved: Amounts; readonly spent: Spent },
): BudgetState {
  const isUnknown = (each: 'tokens' | 'money') => spent[each] === null && terms.limits[each] !== undefined
  return {
    ...state,
    reserved: sum(state.reserved, reserved, -1),
    used: sum(state.used, charged(reserved, spent)),
    unknown: {
      tokens: state.unknown.tokens + (isUnknown('tokens') ? 1 : 0),
      money: state.unknown.money + (isUnknown('money') ? 1 : 0),
    },
  }
}

/** An attempt that began nothing gives back what it had reserved. */
export function free(state: BudgetState, reserved: Amounts): BudgetState {
  return { ...state, reserved: sum(state.reserved, reserved, -1) }
}

export function sum(a: Amounts, b: SomeAmounts, sign: 1 | -1 = 1): Amounts {
  const of = (each: Resource) => a[each] + sign * (b[each] ?? 0)
  return { runs: of('runs'), tokens: of('tokens'), money: of('money'), runtimeMs: of('runtimeMs') }
}

function limited(limits: SomeAmounts, of: (each: Resource, limit: number) => number): SomeAmounts {
  return Object.fromEntries(
    resources.flatMap((each) => (limits[each] === undefined ? [] : [[each, of(each, limits[each])]])),
  )
}

/** The value that 95 of 100 do not exceed, of those that are known; absent where none is. */
export function p95(values: readonly (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  return known[Math.ceil(known.length * 0.95) - 1]
}
