import type { z } from 'zod'
import { isoText } from './instant.ts'
import { noteOf } from './note.ts'

type Def = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
}

/**
 * An answer as doors to the outside tell it: instants are ISO texts, because neither people nor models read epoch ms.
 * What the schema does not know, payloads and results, stays as it is.
 */
export function atDoors(schema: z.ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (noteOf(schema).isInstant === true) return typeof value === 'number' ? isoText(value) : value
  const { type, innerType, shape, element, options } = schema.def as unknown as Def
  switch (type) {
    case 'object':
      return told(shape ?? {}, value as Readonly<Record<string, unknown>>)
    case 'array':
      return (value as unknown[]).map((item) => atDoors(element as z.ZodType, item))
    case 'union': {
      const fitting = options?.find((option) => option.safeParse(value).success)
      return fitting === undefined ? value : atDoors(fitting, value)
    }
    default:
      return innerType === undefined ? value : atDoors(innerType, value)
  }
}

function told(shape: Readonly<Record<string, z.ZodType>>, value: Readonly<Record<string, unknown>>): unknown {
  const fields = Object.entries(value).map(([name, field]) => {
    const schema = shape[name]
    return [name, schema === undefined ? field : atDoors(schema, field)]
  })
  return Object.fromEntries(fields)
}
