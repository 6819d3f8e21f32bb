import type { Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { Steered } from './schedule-steps.ts'

/** Lets parts apply the same change to schedules that follow this one. */
export function* callSteered(context: StoreContext, steered: Steered): Step<void> {
  for (const part of context.parts) if (part.steered !== undefined) yield* part.steered(context, steered)
}
