import { z } from 'zod'
import { moneyExpected, parseMoney } from '../../core/budget/money.ts'
import type { Money } from '../../core/run/usage.ts'
import { noted } from '../schema/schema-note.ts'

const moneyWritten = noted(z.string().meta({ examples: ['40USD', '0.25EUR'] }), { expected: moneyExpected })

/** Money as people write it: `40USD`. An amount without its currency is refused. */
export const moneyText = moneyWritten.transform((text, context): Money => {
  const read = parseMoney(text)
  if (!('problem' in read)) return read
  context.issues.push({ code: 'custom', input: text, params: read })
  return z.NEVER
})

const tokens = z.int().min(0).max(Number.MAX_SAFE_INTEGER)

/** What an attempt has used, as a host reports it. */
export const usageInput = z.strictObject({
  tokensIn: tokens.describe('Tokens of input.').optional(),
  tokensOut: tokens.describe('Tokens of output.').optional(),
  tokensCached: tokens.describe('Tokens of input that the provider had cached.').optional(),
  money: moneyText.describe('The cost with its currency, such as 0.12USD.').optional(),
})
