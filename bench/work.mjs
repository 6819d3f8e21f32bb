/** The work that every contestant is given: a payload of a hundred bytes, and a handler that does nothing with it. */
export const payload = Object.freeze({ x: 'y'.repeat(80) })
export const taskName = 'nothing'
/** Belfry's ceiling in every measure, and that of the bare loops. */
export const ceiling = 500
export const batch = 500

/** Milliseconds on a clock that all processes of one machine share. */
export function machineMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

export function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A promise with its handles. */
export function awaited() {
  let resolve
  let reject
  const promise = new Promise((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

/** Pauses up to a longest one, the same in every run, so that nobody profits from being asked in step with his timer. */
export function pauses(longestMs = 20) {
  let state = 1
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return (state / 2_147_483_647) * longestMs
  }
}
