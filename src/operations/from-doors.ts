import type { z } from 'zod'
import { instantOf } from './instant.ts'
import { noteOf } from './note.ts'

type Def = {
  readonly type: string
  readonly innerType?: z.ZodType
  readonly shape?: Readonly<Record<string, z.ZodType>>
  readonly element?: z.ZodType
  readonly options?: readonly z.ZodType[]
}

/** An answer as it came through a door to the outside, back in the form that it has in a process: the opposite of `atDoors`. */
export function fromDoors(schema: z.ZodType, value: unknown): unknown {
  if (value === null || value === undefined) return value
  if (noteOf(schema).isInstant === true) return instantIn(value)
  const { type, innerType, shape, element, options } = schema.def as unknown as Def
  switch (type) {
    case 'object':
      return inside(shape ?? {}, value)
    case 'array':
      return Array.isArray(value) ? value.map((item) => fromDoors(element as z.ZodType, item)) : value
    case 'union':
      return fitting(options ?? [], value)
    default:
      return innerType === undefined ? value : fromDoors(innerType, value)
  }
}

function instantIn(value: unknown): unknown {
  const read = typeof value === 'string' ? instantOf(value) : null
  return read !== null && 'at' in read ? read.at : value
}

function inside(shape: Readonly<Record<string, z.ZodType>>, value: unknown): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value
  const fields = Object.entries(value as object).map(([name, field]) => {
    const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
    return [name, schema === undefined ? field : fromDoors(schema, field)]
  })
  return Object.fromEntries(fields)
}

/** Which of several forms it has shows only when it is in the form of a process again. */
function fitting(options: readonly z.ZodType[], value: unknown): unknown {
  for (const option of options) {
    const read = fromDoors(option, value)
    if (option.safeParse(read).success) return read
  }
  return value
}
