import { type Period, periodAt } from './period.ts'

/** What a budget counts: runs, tokens, millionths of money, ms of runtime. All amounts are integers. */
export const resources = ['runs', 'tokens', 'money', 'runtimeMs'] as const
export type Resource = (typeof resources)[number]
export type Amounts = Readonly<Record<Resource, number>>
export type SomeAmounts = Readonly<Partial<Amounts>>

export const nothing: Amounts = { runs: 0, tokens: 0, money: 0, runtimeMs: 0 }

/** What an attempt reserves, or is charged. */
export interface Reservation extends Amounts {
  /** 1 where a limited resource is reserved without knowing what a run uses, else absent. */
  readonly blind?: number | undefined
}

export interface BudgetTerms {
  readonly per: Period
  readonly zone: string
  /** What may be spent in a period; what is absent is not limited. */
  readonly limits: SomeAmounts
  /** What a run reserves; what is absent is estimated. */
  readonly perRun?: SomeAmounts | undefined
}

/** The state of the budget of a period. */
export interface BudgetState {
  readonly from: number
  readonly until: number
  readonly used: Amounts
  readonly reserved: Amounts
  /** Added by hand to the limits of this period. */
  readonly added: Amounts
  /** How many ended attempts reported no tokens, and no money. They are counted with what they had reserved. */
  readonly unknown: { readonly tokens: number; readonly money: number }
  /** How many running attempts have reserved without an estimate. */
  readonly blind?: number | undefined
  /** What the last runs without a schedule used, for estimates. It is kept from period to period. */
  readonly recent?: Recent | undefined
}

/** The state of the period that an instant lies in. The cost of an older reservation counts for the period of that reservation. */
export function stateAt(terms: BudgetTerms, state: BudgetState | null, now: number): BudgetState {
  const { per, zone } = terms
  // A clock that was set back does not return to an older period.
  if (state !== null && now < state.until) return state
  const { from, until } = periodAt({ per, zone, at: now }) ?? { from: 0, until: Number.MAX_SAFE_INTEGER }
  const recent = state?.recent
  const fresh = { from, until, used: nothing, reserved: nothing, added: nothing, unknown: { tokens: 0, money: 0 } }
  return recent === undefined ? fresh : { ...fresh, recent }
}

/** What is left of each limited resource; negative where runs used more than they had reserved. */
export function left({ limits }: BudgetTerms, { used, reserved, added }: BudgetState): SomeAmounts {
  return limited(limits, (each, limit) => limit + added[each] - used[each] - reserved[each])
}

/** The resources whose use is known only when a run ends. */
const estimated = ['tokens', 'money', 'runtimeMs'] as const

/** The limited resources of which a run reserves what is estimated. A budget per run is for one run alone, so that it needs no estimate. */
export function estimatedIn({ per, limits, perRun = {} }: BudgetTerms): readonly Resource[] {
  return per === 'run' ? [] : estimated.filter((each) => limits[each] !== undefined && perRun[each] === undefined)
}

/**
 * What a run reserves: what the budget says, else what is estimated. It is at most the whole budget of a period, so that a run
 * that once cost more may still start. Without an estimate it reserves only itself, and is blind.
 */
export function wanted(terms: BudgetTerms, { added }: BudgetState, estimate: SomeAmounts): Reservation {
  const { limits, perRun = {} } = terms
  const of = (each: Resource) => {
    const amount = perRun[each] ?? estimate[each] ?? 0
    const limit = limits[each]
    return limit === undefined ? amount : Math.min(amount, limit + added[each])
  }
  const amounts = { runs: 1, tokens: of('tokens'), money: of('money'), runtimeMs: of('runtimeMs') }
  return estimatedIn(terms).some((each) => estimate[each] === undefined) ? { ...amounts, blind: 1 } : amounts
}

/**
 * Whether a run has to wait for the end of another one, because it is not known what either uses. Of such runs one is at work
 * at a time, so that a budget is overspent by at most what one of them uses.
 */
export function waitsForBlind(state: BudgetState, { blind = 0 }: Reservation): boolean {
  return blind > 0 && (state.blind ?? 0) > 0
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

/** How far a period's budget is used, in the steps that people are notified of. Reservations do not count, because they may be returned. */
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

/** Whether only the end of the period can help: even if all reservations were returned, too little would be left. */
export function waitsForReset(terms: BudgetTerms, state: BudgetState, amounts: Amounts): boolean {
  return shortOf(terms, { ...state, reserved: nothing }, amounts).length > 0
}

export function reserve(state: BudgetState, amounts: Reservation): BudgetState {
  return { ...state, reserved: sum(state.reserved, amounts), ...blindOf(state, amounts, 1) }
}

function blindOf(state: BudgetState, { blind = 0 }: Reservation, sign: 1 | -1): Pick<BudgetState, 'blind'> {
  return blind === 0 ? {} : { blind: Math.max(0, (state.blind ?? 0) + sign * blind) }
}

/** The usage of an attempt; `null` where it was not reported. */
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
  { reserved, spent }: { readonly reserved: Reservation; readonly spent: Spent },
): BudgetState {
  const isUnknown = (each: 'tokens' | 'money') => spent[each] === null && terms.limits[each] !== undefined
  return {
    ...state,
    reserved: sum(state.reserved, reserved, -1),
    used: sum(state.used, charged(reserved, spent)),
    ...blindOf(state, reserved, -1),
    unknown: {
      tokens: state.unknown.tokens + (isUnknown('tokens') ? 1 : 0),
      money: state.unknown.money + (isUnknown('money') ? 1 : 0),
    },
  }
}

/** An attempt that began nothing returns its reservation. */
export function free(state: BudgetState, reserved: Reservation): BudgetState {
  return { ...state, reserved: sum(state.reserved, reserved, -1), ...blindOf(state, reserved, -1) }
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

/** What the last runs of the same work used, by the resource; `null` where it was not reported. */
export type Recent = Readonly<Record<string, Readonly<Partial<Record<Resource, readonly (number | null)[]>>>>>

const recentMax = 20
const worksMax = 20

/** The state with the use of one more run of this work. The work that ran longest ago is forgotten first. */
export function withRecent(terms: BudgetTerms, state: BudgetState, work: string, spent: Spent): BudgetState {
  const { [work]: before = {}, ...others } = state.recent ?? {}
  const kept = estimatedIn(terms).map((each) => [each, [...(before[each] ?? []), spent[each]].slice(-recentMax)])
  if (kept.length === 0) return state
  const works = [...Object.entries(others), [work, Object.fromEntries(kept)]].slice(-worksMax)
  return { ...state, recent: Object.fromEntries(works) }
}

/**
 * What to expect of a run by what runs before it used: the 95th percentile of what they reported; nothing where none reported
 * it. Absent without such a run.
 */
export function expected(values: readonly (number | null)[] = []): number | undefined {
  if (values.length === 0) return undefined
  const known = values.filter((value) => value !== null).sort((a, b) => a - b)
  return known[Math.ceil(known.length * 0.95) - 1] ?? 0
}
