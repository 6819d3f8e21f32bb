import type { Execute } from '../executor.ts'
import { failureOf } from './failure.ts'
import { AttemptRun, type Handler } from './run.ts'

/**
 * Executes runs by a function of this process. Whatever it does — throws at once or later, throws what is no error,
 * answers a promise that is none — becomes the end of its own run and of no other. That it may never end is for whoever
 * asked to settle, by the attempt's signal.
 */
export function handlerExecutor<Payload, Result>(handle: Handler<Payload, Result>): Execute {
  return async (attempt) => {
    try {
      const result = await handle(new AttemptRun(attempt))
      return { facts: { kind: 'handler', json: result, ...(typeof result === 'string' && { text: result }) }, result }
    } catch (thrown) {
      return { facts: { kind: 'handler', ...failureOf(thrown) } }
    }
  }
}
