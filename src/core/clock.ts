/**
 * What a machine tells of time. `now` is the wall clock, which people and other machines understand but which may jump;
 * `monotonic` never goes back, but means nothing to anybody else. Both are in ms.
 */
export interface Dials {
  now(): number
  monotonic(): number
}

/** Dials with an alarm. */
export interface Clock extends Dials {
  /** Acts once, when that many ms have passed by the monotonic clock. The answer takes it back. */
  after(ms: number, act: () => void): () => void
}

/** A longer timer would go off at once, so a longer wait is made of several. */
const timerMsMax = 2 ** 31 - 1

/** The one place that reads the machine's clocks and sets its timers; everything else is handed a clock. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, act) {
    let timer: NodeJS.Timeout
    const wait = (leftMs: number) => {
      const next = leftMs > timerMsMax ? () => wait(leftMs - timerMsMax) : act
      timer = setTimeout(next, Math.min(Math.max(0, leftMs), timerMsMax))
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}

/** Resolves when that many ms have passed. */
export function pause(clock: Pick<Clock, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}
