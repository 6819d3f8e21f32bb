import type { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { instantOf, isoText } from '../input/instant.ts'
import { noteOf } from './schema-note.ts'

/** A node of an answer's schema during a walk: its type and its children. */
export type Def = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly entries?: Readonly<Record<string, unknown>>
}

/** How to convert instants, advice and unions. */
interface Encoding {
  instant(value: unknown): unknown
  advice(value: unknown): unknown
  union(options: readonly z.ZodType[], value: unknown): unknown
}

/** Spells `belfry` commands in a text the way the reader must type them. */
type Spell = (text: string) => string

/** Encodes an answer for the doors: instants become ISO text. Values without a schema, such as payloads and results, stay as they are. */
export function atDoors(schema: z.ZodType, value: unknown, spell: Spell = (text) => text): unknown {
  return told(schema, value, outwards(spell))
}

/** Decodes an answer that came through a door into its form inside a process. */
export function fromDoors(schema: z.ZodType, value: unknown): unknown {
  return told(schema, value, inwards)
}

function outwards(spell: Spell): Encoding {
  return {
    instant: (value) => (typeof value === 'number' ? isoText(value) : value),
    advice: (value) => (typeof value === 'string' ? spell(value) : value),
    union(options, value) {
      const fitting = options.find((option) => option.safeParse(value).success)
      return fitting === undefined ? value : atDoors(fitting, value, spell)
    },
  }
}

const inwards: Encoding = {
  instant(value) {
    const read = typeof value === 'string' ? instantOf(value) : null
    return read !== null && 'at' in read ? read.at : value
  },
  advice: (value) => value,
  /** The member of a union is known only once the value is decoded. */
  union(options, value) {
    const read = options.map((option) => [option, fromDoors(option, value)] as const)
    const fitting = read.find(([option, inside]) => option.safeParse(inside).success)
    return fitting === undefined ? value : fitting[1]
  },
}

function told(schema: z.ZodType, value: unknown, telling: Encoding): unknown {
  if (value === null || value === undefined) return value
  const { isInstant, hasCommands } = noteOf(schema)
  if (isInstant === true) return telling.instant(value)
  if (hasCommands === true) return telling.advice(value)
  const { type, innerType, shape = {}, element, options = [] } = schema.def as unknown as Def
  switch (type) {
    case 'object':
      return isRecord(value) ? toldFields(shape, value, telling) : value
    case 'array':
      return Array.isArray(value) ? value.map((item) => told(element as z.ZodType, item, telling)) : value
    case 'union':
      return telling.union(options, value)
    default:
      return innerType === undefined ? value : told(innerType, value, telling)
  }
}

function toldFields(
  shape: Readonly<Record<string, z.ZodType>>,
  value: Readonly<Record<string, unknown>>,
  telling: Encoding,
): unknown {
  const fields = Object.entries(value).map(([name, field]) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
    return [name, schema === undefined ? field : told(schema, field, telling)]
  })
  return Object.fromEntries(fields)
}
