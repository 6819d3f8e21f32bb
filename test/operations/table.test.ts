import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { kinds } from '../../src/kinds.ts'
import { scopes } from '../../src/operations/caller-scope.ts'
import { errorCodes } from '../../src/operations/error-codes.ts'
import { read } from '../../src/operations/input/read-input.ts'
import { commandOf } from '../../src/operations/operation.ts'
import { type JsonSchema, jsonSchemaOf } from '../../src/operations/schema/json-schema.ts'
import { nouns, operations } from '../../src/table.ts'

const folder = fileURLToPath(new URL('../../src', import.meta.url))
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(folder, path), 'utf8'))

const named = operations.map((operation) => [`${operation.noun} ${operation.verb}`, operation] as const)
const sentence = /^[A-Z].*\.$/

describe('the table', () => {
  it('has each verb once, under its own name, beneath its own noun', () => {
    expect(new Set(named.map(([name]) => name)).size).toBe(operations.length)
    for (const [noun, { plural, operations: verbs }] of Object.entries(nouns)) {
      // A program has one store open, and one way to hand out what is in it.
      expect(plural).toBe(
        ['store', 'sched', 'config', 'admission', 'inbox', 'missed', 'planner'].includes(noun)
          ? noun
          : noun === 'corpus'
            ? 'corpora'
            : noun.replace(/sis$/, 'se').concat('s'),
      )
      for (const [verb, operation] of Object.entries(verbs)) expect(operation).toMatchObject({ noun, verb })
    }
  })

  it('has every entry that was made: one that nobody lists would be a verb without a door', () => {
    const made = sources.flatMap((text) => text.match(/ = operation\(\{/g) ?? [])
    expect(made.length).toBe(operations.length)
  })

  it('tells no two verbs of a noun by one word on the command line', () => {
    const words = operations.map((operation) => commandOf(operation).join(' '))
    expect(new Set(words).size).toBe(words.length)
  })

  it('names a shape once: two things under one name would be told as one', () => {
    const shapes = new Map<string, string>()
    for (const { input, output } of operations) {
      for (const schema of [jsonSchemaOf(input, 'input', kinds), jsonSchemaOf(output, 'output', kinds)]) {
        for (const [name, shape] of Object.entries(schema.$defs ?? {})) {
          const text = JSON.stringify(shape)
          expect(shapes.get(name) ?? text, name).toBe(text)
          shapes.set(name, text)
        }
      }
    }
    expect([...shapes.keys()]).toEqual(expect.arrayContaining(['Schedule', 'Target', 'Expectation', 'RunInput']))
  })
})

describe.each(named)('%s', (_, operation) => {
  const { says, request, effect, scope, input, takes, local, output, errors, doors, examples } = operation

  it('is told in one sentence, and what is asked for in a noun', () => {
    expect(says).toMatch(/^[A-Z][^.]*\.$/)
    expect(request).toMatch(/^an? [a-z-]+( [a-z]+)*$/)
  })

  it('describes every field that it takes or answers, in sentences', () => {
    const found = [jsonSchemaOf(input, 'input', kinds), jsonSchemaOf(output, 'output', kinds)].flatMap((schema) =>
      fieldsIn(schema),
    )
    for (const [field, description] of found) expect(description, field).toMatch(sentence)
    for (const [field, schema] of Object.entries(local.shape)) {
      expect((schema as { unwrap(): { description?: string } }).unwrap().description, field).toMatch(sentence)
    }
  })

  it('takes nothing that it does not know, at any depth', () => {
    // A guard is a target, and read like one; its form, and that of an agent, is short for the sake of models.
    const isShort = (path: string) => path === '.Guard' || path.endsWith('.agent')
    expect(openObjects(jsonSchemaOf(input, 'input', kinds)).filter((path) => !isShort(path))).toEqual([])
  })

  it('has arguments that must be given, or come last, and are fields of its input', () => {
    const required = jsonSchemaOf(input, 'input', kinds).required ?? []
    const optional = takes.filter((field) => !required.includes(field))
    expect(takes.slice(takes.length - optional.length)).toEqual(optional)
    expect(Object.keys(input.shape)).toEqual(expect.arrayContaining([...takes]))
    expect(Object.keys(local.shape).filter((field) => field in input.shape)).toEqual([])
  })

  it('has examples that are plain data and sound', () => {
    expect(examples.length).toBeGreaterThan(0)
    for (const example of examples) {
      expect(JSON.parse(JSON.stringify(example))).toEqual(example)
      expect(read(input, example, request).problems).toEqual([])
    }
  })

  it('has each door, or says why not', () => {
    expect(Object.keys(doors)).toEqual(['library', 'cli', 'http', 'mcp'])
    for (const door of Object.values(doors)) expect(door === true || sentence.test(door)).toBe(true)
  })

  it('refuses with codes that exist, each named once', () => {
    expect(new Set(errors).size).toBe(errors.length)
    for (const code of errors) expect(errorCodes).toHaveProperty(code)
    expect(errors).toContain('invalid')
  })

  it('needs no more than to read for what only reads, and more for what changes something', () => {
    expect(scopes).toContain(scope)
    expect(scope === 'read').toBe(effect === 'read')
    if (operation.adminForCommands === true) expect(effect).toBe('write')
  })
})

/** Every field of a schema with what is said of it, shapes included. */
function fieldsIn(schema: JsonSchema, shapes: JsonSchema['$defs'] = schema.$defs): [string, string | undefined][] {
  const fields = Object.entries(schema.properties ?? {}) as [string, JsonSchema][]
  const inside = [...fields.map(([, field]) => field), ...partsOf(schema), ...Object.values(schema.$defs ?? {})]
  return [
    ...fields.map(([name, field]): [string, string | undefined] => [name, descriptionOf(field, shapes)]),
    ...(inside as JsonSchema[]).flatMap((part) => fieldsIn(part, shapes)),
  ]
}

function descriptionOf(field: JsonSchema, shapes: JsonSchema['$defs']): string | undefined {
  const { $ref } = [field, ...((field.anyOf ?? []) as JsonSchema[])].find(({ $ref }) => $ref !== undefined) ?? {}
  return field.description ?? shapes?.[$ref?.replace('#/$defs/', '') ?? '']?.description
}

function partsOf({ anyOf = [], items, prefixItems = [] }: JsonSchema): JsonSchema[] {
  return [...anyOf, ...prefixItems, ...(items === undefined ? [] : [items])] as JsonSchema[]
}

/** Objects with fields of their own that let others in. */
function openObjects(schema: JsonSchema, path = ''): string[] {
  const inside = Object.entries({ ...schema.properties, ...schema.$defs }) as [string, JsonSchema][]
  return [
    ...(schema.properties !== undefined && schema.additionalProperties !== false ? [path] : []),
    ...inside.flatMap(([name, part]) => openObjects(part, `${path}.${name}`)),
    ...partsOf(schema).flatMap((part) => openObjects(part, path)),
  ]
}
