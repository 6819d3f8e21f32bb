import type { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { instantOf, isoText } from '../input/instant.ts'
import { noteOf } from './schema-note.ts'

/** What a walk over the schema of an answer meets: its type, and what lies inside it. */
export type Def = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
  readonly entries?: Readonly<Record<string, unknown>>
}

/** How an instant is told, how advice is, and how what may have several forms is. */
interface Encoding {
  instant(value: unknown): unknown
  advice(value: unknown): unknown
  union(options: readonly z.ZodType[], value: unknown): unknown
}

/** Spells commands of ours in a text as they must be typed where it is read. */
type Spell = (text: string) => string

/**
 * An answer as doors to the outside tell it: instants are ISO texts, because neither people nor models read epoch ms.
 * What the schema does not know, payloads and results, stays as it is.
 */
export function atDoors(schema: z.ZodType, value: unknown, spell: Spell = (text) => text): unknown {
  return told(schema, value, outwards(spell))
}

/** An answer as it came through such a door, in the form again that it has inside a process. */
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
  /** Which of several forms it has shows only when it is in the form of a process again. */
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
