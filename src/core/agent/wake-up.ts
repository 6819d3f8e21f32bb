const delaySecondsMin = 60
const delaySecondsMax = 3_600

export interface WakeUp {
  readonly at: number
  /** The requested delay was outside the allowed range. */
  readonly clamped: boolean
}

/** When to wake an agent that requested a delay. */
export function wakeUp({ now, delaySeconds }: { readonly now: number; readonly delaySeconds: number }): WakeUp {
  const seconds = Math.min(delaySecondsMax, Math.max(delaySecondsMin, delaySeconds))
  return { at: now + Math.round(seconds * 1_000), clamped: seconds !== delaySeconds }
}

/** When a loop continues whose last turn requested nothing. */
export const forgottenMs = 20 * 60_000

export interface Turn {
  /** Another turn is planned. */
  readonly hasNext: boolean
  /** The previous turn requested nothing either. */
  readonly wasForgotten: boolean
}

/**
 * What follows a turn of a loop that paces itself. After a turn that requests nothing the agent is asked once more;
 * after a second one the loop ends.
 */
export function afterTurn({ hasNext, wasForgotten }: Turn): 'goes-on' | 'ask-again' | 'end' {
  if (hasNext) return 'goes-on'
  return wasForgotten ? 'end' : 'ask-again'
}
