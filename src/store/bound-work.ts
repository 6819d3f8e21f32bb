import type { Actor } from './audit/actor.ts'
import type { Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/** What work of a kind may use a day. */
export interface WorkBound {
  readonly name: string
  /** `KIND/NAME`. */
  readonly kind: string
  readonly zone: string
  /** Null: no longer bounded. */
  readonly limits: { readonly runs?: number; readonly tokens?: number } | null
  readonly actor: Actor
}

/** Has the part that keeps budgets keep one for another part, in the transaction that defines its work. */
export function* boundWork(context: StoreContext, bound: WorkBound): Step<void> {
  for (const { bounds } of context.parts) if (bounds !== undefined) yield* bounds(context, bound)
}
