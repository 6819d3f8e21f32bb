import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { isRecord } from '../../core/json/record.ts'
import { outputOf, text } from '../schema/output-schema.ts'

/** What became of a field: left out where there was, or is, none. */
export interface FieldChange {
  readonly field: string
  readonly before?: unknown
  readonly after?: unknown
}

export const fieldChange = outputOf<FieldChange>()(
  z.strictObject({
    field: text('What differs, such as retention.completedMs.'),
    before: z.unknown().describe('What it was; left out where there was none.').exactOptional(),
    after: z.unknown().describe('What it became; left out where there is none.').exactOptional(),
  }),
)

/** What differs between two objects, field by field, with those of objects inside by their paths. */
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
