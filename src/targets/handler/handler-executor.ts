import type { Ended, Execute } from '../attempt.ts'
import { failureOf } from './handler-failure.ts'
import { AttemptRun, type Handler } from './handler-run.ts'

/**
 * Executes runs by a function of this process. Whatever the function does (throw at once or later, throw a value that is not an
 * error, return a broken promise) ends its own run and no other. A function that never ends is handled by the caller, through
 * the attempt's signal.
 */
export function handlerExecutor<Payload, Result>(handle: Handler<Payload, Result>): Execute {
  return (attempt) => {
    try {
      const result = handle(new AttemptRun(attempt))
      return isPromiseLike(result) ? Promise.resolve(result).then(answered, threw) : answered(result)
    } catch (thrown) {
      return threw(thrown)
    }
  }
}

function answered(result: unknown): Ended {
  if (typeof result === 'string') return { facts: { json: result, text: result }, result }
  return { facts: { json: result }, result }
}

function threw(thrown: unknown): Ended {
  return { facts: { ...failureOf(thrown) } }
}

/** A value that `await` would wait for. */
function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  const canHaveMembers = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return canHaveMembers && typeof (value as { then?: unknown }).then === 'function'
}
