import { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import { noted } from '../schema/schema-note.ts'
import { durationFields, durationOf } from './duration-input.ts'
import { isShown, type Problem } from './refuse-input.ts'

/** Proxies commonly close a request that has had no answer for a minute. */
export const waitMsMax = 60_000

/** How long a call may be held open until it has an answer. */
export function waitFields(says: string) {
  return durationFields('wait', `${says} At most ${formatDuration(waitMsMax)}. Default: answer at once.`)
}

/** The signal that ends a wait early. */
export const waitLocal = z.strictObject({
  signal: noted(z.instanceof(AbortSignal), { expected: 'an AbortSignal' })
    .describe('Ends the wait with the signal’s reason.')
    .optional(),
})

export function waitMsOf(value: object, problems: Problem[]): number | undefined {
  const waitMs = durationOf(value, 'wait', problems)
  if (waitMs === undefined || (waitMs >= 1 && waitMs <= waitMsMax)) return waitMs
  const field = 'waitMs' in value && value.waitMs !== undefined ? 'waitMs' : 'wait'
  const problem = field === 'wait' ? `is ${formatDuration(waitMs)}` : isShown(waitMs)
  const expected = field === 'wait' ? `at most ${formatDuration(waitMsMax)}` : `an integer from 1 to ${waitMsMax}`
  problems.push({ field, problem, expected })
  return undefined
}
