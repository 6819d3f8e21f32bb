/**
 * Ends this process as a power cut would, at the nth turn of any verb of the store. A verb takes a turn for each of its
 * statements, and one more before its commit; both databases drive the same verbs, so this is the same for both.
 */
export function dieAtTurn(nth: number): void {
  const generators = Object.getPrototypeOf(verbLike.prototype) as Generator
  const { next } = generators
  let turns = 0
  generators.next = function (...args) {
    turns++
    if (turns === nth) process.kill(process.pid, 'SIGKILL')
    return next.apply(this, args)
  }
}

function* verbLike(): Generator {
  yield undefined
}
