/**
 * The two clocks of a machine. `now` is the wall clock, which people and other machines understand but which may jump;
 * `monotonic` never goes back, but means nothing to anybody else. Both are in ms.
 */
export interface Clock {
  now(): number
  monotonic(): number
}

/** The one place that reads the machine's clocks; everything else is handed `now`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}
