import { z } from 'zod'
import { expectationNames } from '../../core/run/expect.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { noted } from '../schema/schema-note.ts'
import { offeredKinds } from './target-input.ts'

const statusForm = z.union([z.int().min(100).max(599), z.string().regex(/^[1-5]xx$/)])

const rules = {
  statuses: z
    .array(statusForm)
    .min(1)
    .describe('Statuses that are fine, such as 404 or 2xx, in place of every 2xx.')
    .optional(),
  exitCodes: z
    .array(z.int().min(0).max(255))
    .min(1)
    .describe('Exit codes that are fine, in place of 0 alone.')
    .optional(),
  textIncludes: z.string().min(1).describe('The text of the answer has this part.').optional(),
  textMatches: z.string().min(1).describe('The text of the answer matches this regular expression.').optional(),
  json: z
    .record(z.string(), z.unknown())
    .describe('What the answer, read as JSON, has at these paths: { "items[0].id": 7 }.')
    .optional(),
}

/**
 * The form of an expectation. What is wrong with one is told by `expectationProblems`, which knows the kind of the target
 * too; a test compares the two.
 */
export const expectationForm = noted(
  z.strictObject(rules).describe('What must have been answered; every rule that is given must hold.'),
  { id: 'Expectation' },
)

/** The rules that can hold for these kinds of targets. */
export function expectationOf(kinds: readonly TargetKind[]): z.ZodType {
  const names = expectationNames(offeredKinds(kinds))
  const form = z.strictObject(Object.fromEntries(Object.entries(rules).filter(([name]) => names.includes(name))))
  return noted(form.describe(expectationForm.description ?? ''), { id: 'Expectation' })
}
