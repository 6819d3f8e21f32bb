import { z } from 'zod'
import { expectationNames } from '../../core/run/expect.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { noted } from '../schema/schema-note.ts'
import { offeredKinds } from './target-input.ts'

const statusForm = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)])

const answerRules = {
  statuses: z
    .array(statusForm)
    .min(1)
    .describe('Accepted statuses, such as 404 or 2xx. Default: every 2xx.')
    .optional(),
  exitCodes: z.array(z.int().min(0).max(255)).min(1).describe('Accepted exit codes. Default: 0.').optional(),
  textIncludes: z.string().min(1).describe('Text that the response must contain.').optional(),
  textMatches: z.string().min(1).describe('A regular expression that the response text must match.').optional(),
  json: z
    .record(z.string(), z.unknown())
    .describe('Values that the JSON response must have at these paths: { "items[0].id": 7 }.')
    .optional(),
}

const noopSays = 'Such rules for a response without work: a no-op.'

/** The rules of `noop` are not listed a second time: every model that lists its tools would have to read them again. */
function withNoop(rules: Partial<typeof answerRules>) {
  return z.strictObject({
    ...rules,
    noop: z.record(z.string(), z.unknown()).describe(noopSays).optional(),
    usage: z.record(z.string(), z.unknown()).describe('At most tokensMax, durationMax.').optional(),
    anomaly: z.number().describe('Warns at this many times the usual.').optional(),
  })
}

/** The form of an expectation. `expectationProblems` reports problems and knows the target's kind; a test compares the two. */
export const expectationForm = noted(
  withNoop(answerRules).describe('What the response must be; every given rule must hold.'),
  { id: 'Expectation' },
)

/** The rules that apply to these target kinds. */
export function expectationOf(kinds: readonly TargetKind[]): z.ZodType {
  const names = expectationNames(offeredKinds(kinds))
  const applying = Object.fromEntries(Object.entries(answerRules).filter(([name]) => names.includes(name)))
  return noted(withNoop(applying).describe(expectationForm.description ?? ''), { id: 'Expectation' })
}
