/** A time during which a stop kept a schedule from firing. */
export interface StopSpan {
  readonly from: number
  /** The exclusive end. */
  readonly until: number
}

interface Instants {
  readonly from: number
  readonly to: number
}

/** Why occurrences ended without a run: a stop that covers all of them is the reason for their lateness. */
export function reasonUnderStops(reason: string, { from, to }: Instants, stops: readonly StopSpan[]): string {
  if (reason !== 'missed' && reason !== 'lateness') return reason
  return stops.some((stop) => stop.from <= from && to < stop.until) ? 'stopped' : reason
}
