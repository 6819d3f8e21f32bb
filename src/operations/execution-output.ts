import { z } from 'zod'
import type { OwnBackoff } from '../core/retries.ts'
import { expectationForm } from './execution-input.ts'
import { count, outputOf, text } from './output.ts'

const backoff = outputOf<OwnBackoff>()(
  z
    .strictObject({
      baseMs: count('The wait before the second attempt, in ms.').exactOptional(),
      factor: z.number().describe('By how much each wait is longer than the one before.').exactOptional(),
      capMs: count('The longest wait between attempts, in ms.').exactOptional(),
    })
    .describe('How long it waits between attempts; what is not said here is as its queue says.'),
)

/** What answers tell of how something is executed, in the words of the input. */
export const executionSaid = {
  timeoutMs: count('How long an attempt may take, in ms.').exactOptional(),
  expect: expectationForm.describe('What the target must have answered to count as done.').exactOptional(),
  backoff: backoff.exactOptional(),
  tags: z.array(z.string()).describe('Words to find it by.').exactOptional(),
}

/** How often something is tried, in the words of its input. */
export const attemptsSaid = {
  attempts: count('How often a run is tried, where its queue does not say it.').exactOptional(),
}

/** The same of a run, whose `attempts` are those that it has used. */
export const maxAttemptsSaid = {
  maxAttempts: count('How often it is tried, where its queue does not say it.').exactOptional(),
}

export const traceSaid = {
  traceparent: text('The W3C trace context that its attempts belong to.').exactOptional(),
}
