const delaySecondsMin = 60
const delaySecondsMax = 3_600

export interface WakeUp {
  readonly at: number
  /** The delay was shorter or longer than one may be. */
  readonly clamped: boolean
}

/** When an agent is woken that asked for a delay. */
export function wakeUp({ now, delaySeconds }: { readonly now: number; readonly delaySeconds: number }): WakeUp {
  const seconds = Math.min(delaySecondsMax, Math.max(delaySecondsMin, delaySeconds))
  return { at: now + Math.round(seconds * 1_000), clamped: seconds !== delaySeconds }
}

/** When a loop goes on whose turn did not say. */
export const forgottenMs = 20 * 60_000

export interface Turn {
  /** Another turn is planned. */
  readonly hasNext: boolean
  /** The turn before did not say either. */
  readonly wasForgotten: boolean
}

/** What follows a turn of a loop that paces itself: one that says nothing is asked once more, and then the loop ends. */
export function afterTurn({ hasNext, wasForgotten }: Turn): 'goes-on' | 'ask-again' | 'end' {
  if (hasNext) return 'goes-on'
  return wasForgotten ? 'end' : 'ask-again'
}
