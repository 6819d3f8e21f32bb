import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { type AnswerOf, text } from '../schema/output-schema.ts'

export const fieldChange = z.strictObject({
  field: text('The field, such as retention.completedMs.'),
  before: z.unknown().describe('The previous value; absent: not set.').exactOptional(),
  after: z.unknown().describe('The new value; absent: not set.').exactOptional(),
})

export type FieldChange = AnswerOf<typeof fieldChange>

/** The differences between two objects; fields of nested objects are named by their paths. */
export function fieldChanges(before: object, after: object): FieldChange[] {
  const [was, is] = [flat(before), flat(after)]
  const fields = [...new Set([...was.keys(), ...is.keys()])].sort()
  return fields.flatMap((field) => {
    if (isDeepStrictEqual(was.get(field), is.get(field))) return []
    return [
      { field, ...(was.has(field) && { before: was.get(field) }), ...(is.has(field) && { after: is.get(field) }) },
    ]
  })
}

function flat(content: object, prefix = ''): Map<string, unknown> {
  return new Map(
    Object.entries(content).flatMap(([field, value]) =>
      isRecord(value) ? [...flat(value as object, `${prefix}${field}.`)] : [[prefix + field, value] as const],
    ),
  )
}
