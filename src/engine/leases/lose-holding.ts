import { attemptName, type EngineContext } from '../engine-context.ts'
import { type Holding, stopHolding } from './holdings.ts'

/** The store has given the run away: what is left of it here is stopped, and nothing of it is written any more. */
export function loseHolding({ events }: Pick<EngineContext, 'events'>, holding: Holding): void {
  if (holding.isLost) return
  holding.isLost = true
  stopHolding(holding, 'lease-lost')
  events.tell('run.lease-lost', { ...attemptName(holding.lease), because: 'taken-back' })
}
