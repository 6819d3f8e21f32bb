import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { kinds } from '../../src/kinds.ts'
import { jsonSchemaOf } from '../../src/operations/schema/json-schema.ts'
import { noted } from '../../src/operations/schema/schema-note.ts'
import { nouns, operations } from '../../src/table.ts'

describe('the JSON Schema', () => {
  it.each(operations.map((operation) => [`${operation.noun} ${operation.verb}`, operation] as const))(
    'of %s is an object at once, and refers to nothing that is not in it',
    (_, { input, output }) => {
      expect(jsonSchemaOf(input, 'input', kinds)).toMatchObject({ type: 'object', additionalProperties: false })
      for (const schema of [jsonSchemaOf(input, 'input', kinds), jsonSchemaOf(output, 'output', kinds)]) {
        const refs = [...JSON.stringify(schema).matchAll(/"\$ref":"#\/\$defs\/(\w+)"/g)].map(([, name]) => name)
        expect(Object.keys(schema.$defs ?? {})).toEqual(expect.arrayContaining(refs))
        expect(JSON.stringify(schema)).not.toMatch(/9007199254740991|readOnly|"expected"|"form"/)
      }
    },
  )

  it('shows a target and an expectation by their forms, though other means judge them', () => {
    const { properties, $defs } = jsonSchemaOf(nouns.run.operations.enqueue.input, 'input', kinds)
    expect(properties?.target).toMatchObject({ anyOf: [{ $ref: '#/$defs/Target' }, { type: 'null' }] })
    expect(properties?.expect).toMatchObject({ $ref: '#/$defs/Expectation' })
    expect($defs?.Target?.anyOf).toMatchObject([
      { required: ['command'] },
      { required: ['http'] },
      { required: ['handler'] },
      { required: ['agent'] },
      { required: ['inbox'] },
    ])
    expect($defs).toHaveProperty('Secret')
  })

  it('says of a change that null is a value, and what it means', () => {
    const { properties } = jsonSchemaOf(nouns.schedule.operations.update.input, 'input', kinds)
    expect(properties?.priority).toEqual({
      type: ['integer', 'null'],
      minimum: -1_000_000,
      maximum: 1_000_000,
      description: 'Lower goes first. Null removes it.',
    })
    expect(properties?.overlap).toMatchObject({ enum: ['skip', 'queue', 'allow', 'cancel', null] })
    expect(properties?.name).toMatchObject({ type: 'string' })
  })

  it('leaves the registry of the whole program alone', () => {
    noted(z.string(), { id: 'Mine', expected: 'mine' })
    expect(Object.keys(z.toJSONSchema(z.globalRegistry).schemas)).toEqual([])
  })
})
