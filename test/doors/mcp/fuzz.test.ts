import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { confirmField, detailField, type Tool, toolsFor } from '../../../src/doors/mcp/tools.ts'
import { errorCodes } from '../../../src/operations/error-codes.ts'
import type { JsonSchema } from '../../../src/operations/schema/json-schema.ts'
import type { Desk } from '../../operations/desk.ts'
import { desksOf, sizes, strange } from '../fuzzing.ts'
import { type Answer, modelAt } from './model.ts'

interface Place {
  readonly desk: Desk
  readonly client: Client
}

const places: Place[] = []
const unforeseen: unknown[] = []

beforeAll(async () => {
  for (const desk of await desksOf('fuzz_mcp')) {
    const onUnforeseen = (error: unknown) => unforeseen.push(error)
    const client = await modelAt({ context: async () => desk.context, onUnforeseen })
    places.push({ desk, client })
  }
})
afterAll(async () => {
  for (const { desk, client } of places) {
    await client.close()
    await desk.store.close()
  }
})

const allSizes = () => Promise.all(places.map(({ desk }) => sizes(desk)))

/** What both databases answer, as it would go over a wire. A protocol error would be thrown. */
async function answers(name: string, given: Record<string, unknown>): Promise<Answer[]> {
  const sent = JSON.stringify(given)
  return Promise.all(
    places.map(async ({ client }) => {
      return (await client.callTool({ name, arguments: JSON.parse(sent) })) as unknown as Answer
    }),
  )
}

/** A refusal that a model can read: of a kind that everybody knows, and never the one that nobody foresaw. */
async function expectRefused(name: string, given: Record<string, unknown>): Promise<void> {
  const [first, second] = await answers(name, given)
  expect(first, JSON.stringify(given).slice(0, 500)).toMatchObject({ isError: true })
  expect(first?.content[0]?.type).toBe('text')
  const { error } = JSON.parse(first?.content[0]?.text ?? '') as {
    error: { code: string; message: unknown; hint: unknown }
  }
  expect(Object.keys(errorCodes)).toContain(error.code)
  expect(error.code).not.toBe('failure')
  expect(error.message).toEqual(expect.stringMatching(/\S/))
  expect(error.hint).toEqual(expect.stringMatching(/\S/))
  expect(second).toEqual(first)
}

const triesMax = 12

const kinds: Readonly<Record<string, readonly unknown[]>> = {
  string: ['nonsense', '\ud800', 'x'.repeat(3_000)],
  integer: [5, -(2 ** 60)],
  number: [1.5, 1e308],
  boolean: [true],
  null: [null],
  array: [[], [[]]],
  object: [{}, { toString: 1 }],
}

/** Values that a field cannot have, by what its schema says; none where it may have any. */
function wrongFor({ type, enum: words }: JsonSchema): unknown[] {
  const own = new Set([type ?? []].flat() as string[])
  if (own.size === 0) return []
  // Every integer is a number.
  if (own.has('number')) own.add('integer')
  const others = Object.entries(kinds).filter(([kind]) => !own.has(kind))
  return [...others.flatMap(([, values]) => values), ...(words === undefined ? [] : ['no such word'])]
}

/** An example for each field and each value that it cannot have. */
function wrongInputs({ inputSchema, operation: { examples } }: Tool): Record<string, unknown>[] {
  const all = Object.entries((inputSchema.properties ?? {}) as Record<string, JsonSchema>)
  return all.flatMap(([field, schema]) => wrongFor(schema).map((value) => ({ ...examples[0], [field]: value })))
}

describe.each(toolsFor('admin').map((tool) => [tool.name, tool] as const))('%s', (name, tool) => {
  const { operation } = tool
  const fields = [...Object.keys(operation.input.shape), 'nonsense', confirmField, detailField]

  it('answers whatever is strange and beside the point with a typed refusal, changes nothing, and says the same on both databases', async () => {
    const before = await allSizes()
    const input = fc.record({
      field: fc.constantFrom(...fields),
      value: strange,
      surplus: fc.constantFrom('surprise', 'constructor', '__proto_', 'ifversion'),
    })
    await fc.assert(
      fc.asyncProperty(input, ({ field, value, surplus }) => expectRefused(name, { [field]: value, [surplus]: 1 })),
      { numRuns: triesMax },
    )
    expect(unforeseen.splice(0)).toEqual([])
    expect(await allSizes()).toEqual(before)
  })

  it('refuses an example in which one field is of another kind, whichever it is', async () => {
    const before = await allSizes()
    for (const input of wrongInputs(tool)) await expectRefused(name, input)
    expect(unforeseen.splice(0)).toEqual([])
    expect(await allSizes()).toEqual(before)
  })
})
