import { z } from 'zod'
import {
  type Field,
  type Fields,
  givenSentence,
  namedFields,
  type StoredOf,
  type ValueOf,
} from '../../core/field-table.ts'
import type { Expectation } from '../../core/run/expect.ts'
import { durationFields, durationOf } from '../input/duration-input.ts'
import { instant } from '../input/instant.ts'
import type { Problem } from '../input/refuse-input.ts'
import { instantOutput } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { expectationForm, expectationOf } from '../target/expectation-form.ts'
import { targetForm, targetStored } from '../target/target-form.ts'
import type { TargetInput } from '../target/target-input.ts'
import { key, newName } from './basic-fields.ts'
import { patched } from './patch.ts'

/** The input schema of a field; a value that code judges is passed through. */
type Schema<Of> = Of extends { readonly kind: 'duration' }
  ? z.ZodType<number, string>
  : Of extends { readonly kind: 'instant' }
    ? z.ZodType<number, string | Date>
    : Of extends { readonly kind: 'target' }
      ? z.ZodType<unknown, TargetInput | null>
      : Of extends { readonly kind: 'expectation' }
        ? z.ZodType<unknown, Expectation>
        : Of extends { readonly kind: 'group'; readonly fields: infer Inner }
          ? z.ZodObject<InputShape<Inner>, z.core.$strict>
          : z.ZodType<ValueOf<Of>, ValueOf<Of>>

type Twin<Name, Of> = Name extends string ? (Of extends { readonly kind: 'duration' } ? `${Name}Ms` : never) : never
type IsNeeded<Of> = Of extends { readonly kind: 'duration' }
  ? false
  : Of extends { readonly isRequired: true }
    ? true
    : false

/** Fields as input. Either name of a duration may be missing. */
export type InputShape<Of> = {
  [Name in keyof Of]: IsNeeded<Of[Name]> extends true ? Schema<Of[Name]> : z.ZodOptional<Schema<Of[Name]>>
} & { [Name in keyof Of as Twin<Name, Of[Name]>]: z.ZodOptional<z.ZodType<number, number>> }

/** Fields of a change: null removes an optional field, and a required object is changed field by field. */
export type ChangeShape<Of> = {
  [Name in keyof Of]: Of[Name] extends { readonly isRequired: true }
    ? z.ZodOptional<
        Of[Name] extends { readonly fields: infer Inner }
          ? z.ZodObject<ChangeShape<Inner>, z.core.$strict>
          : Schema<Of[Name]>
      >
    : z.ZodOptional<z.ZodNullable<Schema<Of[Name]>>>
} & {
  [Name in keyof Of as Twin<Name, Of[Name]>]: Of[Name] extends { readonly isRequired: true }
    ? z.ZodOptional<z.ZodType<number, number>>
    : z.ZodOptional<z.ZodNullable<z.ZodType<number, number>>>
}

/** Fields as output: as they are stored. */
export type OutputShape<Of> = {
  [Name in keyof StoredOf<Of>]-?: undefined extends StoredOf<Of>[Name]
    ? z.ZodOptional<z.ZodType<Exclude<StoredOf<Of>[Name], undefined>>>
    : z.ZodType<StoredOf<Of>[Name]>
}

type Shape = Record<string, z.ZodType>

export function inputShape<Of extends Fields>(fields: Of): InputShape<Of> {
  const shape = shapeOf(fields, (field) => {
    const schema = inputOf(field, inputShape)
    return field.isRequired === true ? schema : schema.optional()
  })
  return shape as InputShape<Of>
}

export function changeShape<Of extends Fields>(fields: Of): ChangeShape<Of> {
  const shape = Object.entries(fields).map(([name, field]) => {
    if (field.isRequired === true) {
      return shapeOf({ [name]: field }, (each) => inputOf(each, changeShape).optional())
    }
    return patched(shapeOf({ [name]: field }, (each) => inputOf(each, inputShape).optional()) as never)
  })
  return Object.assign({}, ...shape) as ChangeShape<Of>
}

/** A duration has two names: one for text, one for ms. */
function shapeOf(fields: Fields, schemaOf: (field: Field) => z.ZodType): Shape {
  const shapes = Object.entries(fields).map(([name, field]) => {
    return field.kind === 'duration' ? durationFields(name, givenSentence(field)) : { [name]: schemaOf(field) }
  })
  return Object.assign({}, ...shapes)
}

function inputOf(field: Field, shapeOfGroup: (fields: Fields) => object): z.ZodType {
  const { kind, fields, example, hasFlags } = field
  const schema =
    fields === undefined
      ? forms[kind]?.(field).given
      : noted(z.strictObject(shapeOfGroup(fields) as Shape), {
          expected: `an object, such as ${example}`,
          ...(hasFlags === true && { hasFlags }),
        })
  return (schema ?? z.unknown()).describe(givenSentence(field))
}

export function outputShape<Of extends Fields>(fields: Of): OutputShape<Of> {
  const entries = namedFields(fields).map(({ stored, field }) => {
    const { kind, says, fields: inner } = field
    const form = forms[kind]?.(field)
    const schema =
      inner === undefined ? (form?.answered ?? form?.given ?? z.unknown()) : z.strictObject(outputShape(inner) as Shape)
    const said =
      kind === 'instant' ? instantOutput(says) : schema.describe(kind === 'duration' ? `${says} In ms.` : says)
    return [stored, field.isRequired === true ? said : said.optional()]
  })
  return Object.fromEntries(entries) as OutputShape<Of>
}

const tag = z.string().min(1).max(100)
const answeredText = z.string()

/** The input and output schema of each kind of field. A kind that is not listed takes any data. */
const forms: Readonly<Record<string, (field: Field) => { readonly given: z.ZodType; readonly answered?: z.ZodType }>> =
  {
    integer: ({ min = 0, max = 0 }) => ({ given: z.int().min(min).max(max), answered: z.int() }),
    number: ({ min = 0, max = 0 }) => ({ given: z.number().min(min).max(max), answered: z.number() }),
    duration: () => ({ given: z.int() }),
    flag: () => ({ given: z.boolean() }),
    choice: ({ words = [] }) => ({ given: z.enum(words) }),
    instant: () => ({ given: instant }),
    plain: () => ({ given: answeredText }),
    text: ({ lengthMax = 0 }) => ({ given: z.string().min(1).max(lengthMax), answered: answeredText }),
    name: () => ({ given: newName, answered: answeredText }),
    key: () => ({ given: key, answered: answeredText }),
    tags: () => ({ given: z.array(tag).max(50).readonly(), answered: z.array(answeredText) }),
    expectation: () => ({ given: noted(z.unknown(), { form: expectationOf }), answered: expectationForm }),
    target: ({ expected }) => ({
      given: noted(z.unknown(), { form: targetForm, isTarget: true, expected }).nullable(),
      answered: targetStored.nullable(),
    }),
  }

/** The stored form of the fields in an input: a duration under either name becomes ms. Fields that were not given are left out; null is kept, because it removes a field. */
export function storedFields(fields: Fields, given: object, problems: Problem[], prefix = ''): Record<string, unknown> {
  const read: Record<string, unknown> = {}
  for (const { given: name, stored, field } of namedFields(fields)) {
    const value =
      field.kind === 'duration'
        ? durationOf(given, name, problems, prefix)
        : (given as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) continue
    const { fields: inner } = field
    const isGroup = inner !== undefined && value !== null
    read[stored] = isGroup ? storedFields(inner, value as object, problems, `${prefix}${name}.`) : value
  }
  return read
}
