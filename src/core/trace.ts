import { createHash } from 'node:crypto'

interface TraceContext {
  readonly traceId: string
  readonly flags: string
}

export interface TraceInput {
  /** The run's own trace context, if any. */
  readonly given?: string | undefined
  /** Identifies the attempt. */
  readonly seed: string
}

export const traceparentExpected = 'a W3C traceparent such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

const notation = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/s
const lengthMax = 512
const sampled = '01'

/** Why a text is not a `traceparent`, as a clause after its name; `null` when it is one. */
export function traceparentProblem(text: unknown): string | null {
  if (typeof text !== 'string') return `is ${text === null ? 'null' : typeof text}`
  const [whole, version, traceId, parentId, , rest] = notation.exec(text.slice(0, lengthMax + 1)) ?? []
  if (whole === undefined || whole.length > lengthMax) return 'does not have its parts'
  if (version === 'ff') return 'has the invalid version ff'
  if (version === '00' && rest !== undefined) return 'has text after its flags, which version 00 does not allow'
  if (/^0+$/.test(traceId ?? '')) return 'has a trace id of zeros, which is invalid'
  return /^0+$/.test(parentId ?? '') ? 'has a parent id of zeros, which is invalid' : null
}

/**
 * The trace context of an attempt: it belongs to the given trace and has its own parent id, so that its calls can be told from
 * those of other attempts. Both ids are computed, not random: the spans of a known attempt can be found. Without a valid context
 * a new trace begins, as the standard requires; a door refuses a broken one by `traceparentProblem`.
 */
export function traceparentOf({ given, seed }: TraceInput): string {
  const { traceId, flags } = contextOf(given) ?? { traceId: hashed('trace', seed, 32), flags: sampled }
  return `00-${traceId}-${hashed('span', seed, 16)}-${flags}`
}

function contextOf(given: string | undefined): TraceContext | null {
  if (traceparentProblem(given) !== null) return null
  const [, , traceId = '', , flags = ''] = notation.exec(given ?? '') ?? []
  return { traceId, flags }
}

function hashed(use: string, seed: string, digits: number): string {
  return createHash('sha256').update(`${use}\n${seed}`).digest('hex').slice(0, digits)
}
