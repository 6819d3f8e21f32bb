import { isRecord } from '../../../core/json/record.ts'

export const bodyLengthMax = 1_000

/**
 * A body of at most 1,000 characters. The longest values are cut first, so that the keys stay. If the text were cut at its end instead,
 * everything after one long value would be lost.
 */
export function clippedBody(body: unknown, lengthMax = bodyLengthMax): string {
  if (typeof body === 'string') return shortened(body, lengthMax)
  const whole = JSON.stringify(body) ?? 'null'
  if (whole.length <= lengthMax) return whole
  for (let longest = lengthMax / 2; longest >= 4; longest = Math.floor(longest / 2)) {
    const text = JSON.stringify(cut(body, longest, 0))
    if (text.length <= lengthMax) return text
  }
  return shortened(JSON.stringify(cut(body, 4, 0)), lengthMax)
}

const depthMax = 6

function cut(value: unknown, longest: number, depth: number): unknown {
  if (typeof value === 'string') return value.length > longest ? shortened(value, longest) : value
  if (depth >= depthMax) return '…'
  if (Array.isArray(value)) {
    const kept = value.slice(0, Math.max(1, Math.floor(longest / 16))).map((one) => cut(one, longest, depth + 1))
    return kept.length < value.length ? [...kept, `… ${value.length - kept.length} more`] : kept
  }
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [shortened(name, 60), cut(one, longest, depth + 1)]),
  )
}

function shortened(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1).toWellFormed()}…`
}

/** Only the given top-level fields of a body. */
export function onlyFields(body: unknown, fields: readonly string[] | undefined): unknown {
  if (fields === undefined) return body
  if (!isRecord(body)) return {}
  return Object.fromEntries(Object.entries(body).filter(([name]) => fields.includes(name)))
}
