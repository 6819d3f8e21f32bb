import { z } from 'zod'

/** The fields of a change: what is not named stays, and `null` takes a field away. */
export type Patched<Shape> = {
  [Field in keyof Shape]: Shape[Field] extends z.ZodOptional<infer Inner extends z.core.SomeType>
    ? z.ZodOptional<z.ZodNullable<Inner>>
    : never
}

export function patched<Shape extends Readonly<Record<string, z.ZodOptional>>>(shape: Shape): Patched<Shape> {
  const fields = Object.entries(shape).map(([field, schema]) => [field, z.nullable(schema.unwrap()).optional()])
  return Object.fromEntries(fields) as Patched<Shape>
}
