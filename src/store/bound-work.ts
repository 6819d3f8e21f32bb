import type { Actor } from './audit/actor.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** The budget of another part's work in a period. */
export interface WorkBound {
  readonly name: string
  /** Runs of a kind, `KIND/NAME`, or of a queue. */
  readonly of: { readonly scope: 'kind' | 'queue'; readonly subject: string }
  readonly per: 'day' | 'month'
  readonly zone: string
  /** Null: no longer bounded. */
  readonly limits: { readonly runs?: number; readonly tokens?: number } | null
  readonly actor: Actor
}

/** Asks the part that keeps budgets to keep one for another part, in the transaction that defines that part's work. */
export function* boundWork(context: StoreContext, bound: WorkBound): Step<void> {
  for (const { bounds } of context.parts) if (bounds !== undefined) yield* bounds(context, bound)
}

/** The tokens that are left in the budget of another part's work; null where no budget of tokens is kept. */
export function* tokensLeftOf(context: StoreContext, budget: string): Step<number | null> {
  for (const { tokensLeft } of context.parts) {
    const left = tokensLeft === undefined ? null : yield* tokensLeft(context, budget)
    if (left !== null) return left
  }
  return null
}
