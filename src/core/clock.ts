/**
 * The machine's clocks, in ms. `now` is the wall clock, which people and other machines understand but which may jump;
 * `monotonic` never goes back, but has no meaning outside this process.
 */
export interface Dials {
  now(): number
  monotonic(): number
}

/** The machine's clocks, and a timer. */
export interface Clock extends Dials {
  /** Calls `act` once, after that many ms by the monotonic clock. Call the returned function to cancel. */
  after(ms: number, act: () => void): () => void
}

/** A longer timer would fire at once, so a longer wait uses several. */
const timerMsMax = 2 ** 31 - 1

/** The only code that reads the machine's clocks and sets timers; all other code receives a clock. */
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

export function pause(clock: Pick<Clock, 'after'>, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve)
  })
}
