import type { z } from 'zod'

/** The schema behind wrappers such as optional, nullable and preprocess. */
export function innerSchema(schema: z.ZodType | undefined): z.ZodType | undefined {
  const {
    innerType,
    in: first,
    out,
  } = (schema?.def ?? {}) as { innerType?: z.ZodType; in?: z.ZodType; out?: z.ZodType }
  if (innerType !== undefined) return innerSchema(innerType)
  if (first === undefined) return schema
  return innerSchema(first.def.type === 'transform' ? out : first)
}
