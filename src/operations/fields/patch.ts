import { z } from 'zod'

/** The fields of a change: a field that is not given stays, and `null` removes a field. */
export type Patched<Shape> = {
  [Field in keyof Shape]: Shape[Field] extends z.ZodOptional<infer Inner extends z.core.SomeType>
    ? z.ZodOptional<z.ZodNullable<Inner>>
    : never
}

export function patched<Shape extends Readonly<Record<string, z.ZodOptional<z.ZodType>>>>(
  shape: Shape,
): Patched<Shape> {
  const fields = Object.entries(shape).map(([field, schema]) => {
    const inner = schema.unwrap()
    return [field, z.nullable(inner).describe(changeSaid(inner.description)).optional()]
  })
  return Object.fromEntries(fields) as Patched<Shape>
}

/** A default means nothing in a change: a field that is not given stays. */
function changeSaid(says = ''): string {
  return `${withoutDefault(says)} Null removes it.`
}

export function withoutDefault(says: string): string {
  return says.replace(/ Default: .+$/, '')
}
