import { z } from 'zod'
import { type UsagePaths, usagePath, usagePathExpected } from '../../../core/run/usage-paths.ts'
import type { AddedField, AddedFieldContext } from '../../../operations/fields/added-fields.ts'
import { noted } from '../../../operations/schema/schema-note.ts'

declare module '../../../core/added.ts' {
  interface AddedToSchedule {
    readonly usage: AddedType<UsagePaths>
  }
  interface AddedToRun {
    readonly usage: AddedType<UsagePaths>
  }
}

const path = noted(
  z.string().refine((text) => usagePath(text) !== null),
  { expected: usagePathExpected },
)
const currency = noted(z.string().regex(/^[A-Z]{3}$/), { expected: 'three capital letters, such as USD' })

/** Where the answer of an HTTP target, or the result file of a command, says what the attempt used. */
export const usage: AddedField = {
  input: z
    .strictObject({
      tokensIn: path.describe('Input tokens.').optional(),
      tokensOut: path.describe('Output tokens.').optional(),
      tokensCached: path.describe('Cached tokens.').optional(),
      money: path.describe('The cost.').optional(),
      currency: currency.describe('Its currency.').optional(),
    })
    .describe(
      'Where its answer reports what the run used: JSON paths such as $.usage.input. Default: the usage is unknown.',
    ),
  read(given: unknown, { field, problems }: AddedFieldContext) {
    const paths = given as UsagePaths
    if ((paths.money === undefined) !== (paths.currency === undefined)) {
      const missing = paths.money === undefined ? 'money' : 'currency'
      problems.push({
        field: `${field}.${missing}`,
        problem: 'is missing',
        expected: 'money and its currency together',
      })
    }
    if (Object.keys(paths).length === 0) {
      problems.push({ field, problem: 'is empty', expected: 'one path at least' })
    }
    return paths
  },
  inWords: (paths: UsagePaths) =>
    Object.entries(paths)
      .map(([name, where]) => (name === 'currency' ? `in ${where}` : `${name} at ${where}`))
      .join(', '),
  clause: 'with its use read from the answer:',
}
