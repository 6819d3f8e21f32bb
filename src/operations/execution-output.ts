import { z } from 'zod'
import { expectationForm } from './execution-input.ts'
import { count, text } from './output.ts'

/** What answers tell of how something is executed, in the words of the input. */
export const executionSaid = {
  timeoutMs: count('How long an attempt may take, in ms.').exactOptional(),
  expect: expectationForm.describe('What the target must have answered to count as done.').exactOptional(),
  tags: z.array(z.string()).describe('Words to find it by.').exactOptional(),
}

export const traceSaid = {
  traceparent: text('The W3C trace context that its attempts belong to.').exactOptional(),
}
