import { payloadBytesMax } from '../../core/run/payload.ts'
import type { Problem } from '../input/refuse-input.ts'

/** Reports a payload that is too large. A payload with other problems has no size. */
export function noteSizes(fields: object, problems: Problem[], names = ['payload', 'target']): void {
  for (const field of names) {
    const value = (fields as Readonly<Record<string, unknown>>)[field]
    if (value === undefined || problems.some((problem) => problem.field.startsWith(field))) continue
    const bytes = Buffer.byteLength(JSON.stringify(value) ?? '')
    if (bytes <= payloadBytesMax) continue
    problems.push({ field, problem: `has ${bytes} bytes as JSON`, expected: `at most ${payloadBytesMax} bytes` })
  }
}
