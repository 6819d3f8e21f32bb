import { payloadBytesMax } from '../core/payload.ts'
import type { Problem } from './problem.ts'

/**
 * Notes what is too large, where anything else is wrong. The store looks at the size of what it takes in; what it would
 * find in an input that is refused anyhow is told with the rest, and an input that is sound is not measured twice.
 */
export function noteSizes(
  fields: { readonly payload?: unknown; readonly target?: unknown },
  problems: Problem[],
): void {
  if (problems.length === 0) return
  for (const field of ['payload', 'target'] as const) {
    if (fields[field] === undefined || problems.some((problem) => problem.field.startsWith(field))) continue
    const bytes = Buffer.byteLength(JSON.stringify(fields[field]) ?? '')
    if (bytes <= payloadBytesMax) continue
    problems.push({ field, problem: `has ${bytes} bytes as JSON`, expected: `at most ${payloadBytesMax} bytes` })
  }
}
