import { resolve } from 'node:path'
import { z } from 'zod'
import { autonomies } from '../../../core/schedule/group.ts'
import { isSecretName, secretNameExpected } from '../../../core/secret-name.ts'
import { name } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { moneyText } from '../../../operations/input/money-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { shownFields } from '../planner-fields.ts'
import { type PlannerSpec, providers } from '../planner-row.ts'

const expected = `the name of a secret, not the key itself: ${secretNameExpected}`

/** The name of a secret. A key itself has other characters, so it is refused before it is stored, and the refusal does not repeat it. */
const keyName = noted(z.string(), { expected }).transform((text, context) => {
  if (isSecretName(text)) return text
  context.issues.push({ code: 'custom', input: text, params: { problem: 'is no name of a secret', expected } })
  return z.NEVER
})

/** The fields of a planner, as a config file has them. */
export const plannerForm = z.strictObject({
  provider: z.enum(providers).describe('Who serves the model; scripted is a file with steps, for tests.'),
  model: name.describe('The name of the model.'),
  url: noted(z.url({ protocol: /^https?$/ }), { expected: 'an address that begins with http:// or https://' })
    .describe('Where it is served, such as https://example.org/v1.')
    .optional(),
  key: keyName.describe('The name of the secret with its key.').optional(),
  stream: z.boolean().describe('Whether answers are streamed. Default: false.').optional(),
  script: z.string().min(1).describe('The file with the steps of the provider scripted.').optional(),
  autonomy: z.enum(autonomies).describe('For schedules and groups without their own. Default: suggest.').optional(),
  tokensPerMonth: z.int().min(1_000).describe('A budget over all looks of a month. Default: none.').optional(),
  fields: shownFields
    .describe('The only fields of answers that planners see, for schedules that name none.')
    .optional(),
  priceIn: moneyText.describe('The price of a million tokens of input, such as 3USD.').optional(),
  priceOut: moneyText.describe('The price of a million tokens of output.').optional(),
})

const { provider: providerField, model: modelField, ...others } = plannerForm.shape

/** A change of the planner, as `planner set` takes it: what is not given stays, and null removes a field. */
export const plannerChange = z.strictObject({
  provider: providerField.optional(),
  model: modelField.optional(),
  ...patched(others),
})

type Change = Partial<z.output<typeof plannerChange>>

/** The planner after a change. With another provider only what belongs to no provider stays: no key is sent to another address. */
export function changedPlanner(
  before: PlannerSpec | null,
  change: Change,
  { folder, problems }: { readonly folder: string; readonly problems: Problem[] },
): PlannerSpec {
  const isOther = change.provider !== undefined && change.provider !== before?.provider
  const { autonomy, tokensPerMonth, fields } = before ?? {}
  const kept: Given = before === null ? {} : isOther ? { autonomy, tokensPerMonth, fields } : givenOf(before)
  const whole = Object.entries({ ...kept, ...onlyGiven(change) }).filter(([, value]) => value != null)
  const given = Object.fromEntries(whole) as Given
  for (const field of ['provider', 'model'] as const) {
    if (given[field] !== undefined || problems.some((problem) => problem.field === field)) continue
    problems.push({ field, problem: 'is missing', expected: `the ${field}, because none is set` })
  }
  return readPlanner(given, folder, problems)
}

/** The planner as it would be given again. */
function givenOf({ prices, zone: _, ...spec }: PlannerSpec): Given {
  if (prices === undefined) return spec
  const { in: priceIn, out: priceOut, currency } = prices
  return { ...spec, priceIn: { amount: priceIn, currency }, priceOut: { amount: priceOut, currency } }
}

type Given = Partial<z.output<typeof plannerForm>>

/** The planner as it is stored. Fields that do not fit together are reported in `problems`. */
export function readPlanner(given: Given, folder: string, problems: Problem[]): PlannerSpec {
  const { provider, url, script, priceIn, priceOut, key, ...rest } = given
  const needs = (field: string, of: string) =>
    problems.push({ field, problem: 'is missing', expected: `${field}, which ${of} needs` })
  if (provider === 'openai-compatible' && url === undefined) needs('url', provider)
  if (provider === 'anthropic' && key === undefined) needs('key', provider)
  if (provider === 'scripted' && script === undefined) needs('script', provider)
  if (provider !== 'scripted' && script !== undefined) {
    problems.push({
      field: 'script',
      problem: `is given beside ${provider}`,
      expected: 'the provider scripted, or no script',
    })
  }
  if ((priceIn === undefined) !== (priceOut === undefined) || priceIn?.currency !== priceOut?.currency) {
    problems.push({
      field: 'priceOut',
      problem: 'is not given as priceIn is',
      expected: 'both prices, in one currency',
    })
  }
  const prices =
    priceIn === undefined || priceOut === undefined
      ? undefined
      : { in: priceIn.amount, out: priceOut.amount, currency: priceIn.currency }
  // The path is made absolute, because workers run in other folders.
  const file = script === undefined ? undefined : resolve(folder, script)
  return onlyGiven({ provider, url, script: file, key, prices, ...rest }) as PlannerSpec
}
