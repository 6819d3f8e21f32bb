import { attemptName, type EngineContext } from '../engine-context.ts'
import { type Holding, stopHolding } from './holdings.ts'

/** The store has reclaimed the run: this worker stops it and writes nothing more for it. */
export function loseHolding({ events }: Pick<EngineContext, 'events'>, holding: Holding): void {
  if (holding.isLost) return
  holding.isLost = true
  stopHolding(holding, 'lease-lost')
  events.tell('run.lease-lost', { ...attemptName(holding.lease), because: 'taken-back' })
}
