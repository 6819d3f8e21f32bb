/** A path inside a value: property names and list indexes. */
export type JsonPath = readonly (string | number)[]

const pathLengthMax = 500
const segment = /\.?([\p{L}\p{N}_$@-]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/uy

export const jsonPathExpected = `a path such as status, items[0].id or headers["x-id"] of at most ${pathLengthMax} characters`

/** Parses `status`, `items[0].id` and `headers["x-id"]`; `null` when the text is not a path. */
export function parseJsonPath(text: string): JsonPath | null {
  // `$.status` is JSONPath, another notation with other meanings.
  if (text === '' || text.length > pathLengthMax || /^\$([.[]|$)/.test(text) || text.startsWith('.')) return null
  const path: (string | number)[] = []
  for (let at = 0; at < text.length; ) {
    segment.lastIndex = at
    const found = segment.exec(text)
    if (found === null || (at > 0 && !'.['.includes(text[at] as string))) return null
    const [whole, name, index, quoted] = found
    const key = name ?? (index === undefined ? unquoted(quoted as string) : Number(index))
    if (key === null) return null
    path.push(key)
    at += whole.length
  }
  return path
}

function unquoted(text: string): string | null {
  try {
    return JSON.parse(text) as string
  } catch {
    return null
  }
}

/** The value at a path, or the part of the path that exists. */
export function atJsonPath(value: unknown, path: JsonPath): { readonly value: unknown } | { readonly until: JsonPath } {
  let inner = value
  for (const [index, key] of path.entries()) {
    if (!hasOwn(inner, key)) return { until: path.slice(0, index) }
    inner = (inner as Record<string | number, unknown>)[key]
  }
  return { value: inner }
}

/** Own properties only: neither `length` nor inherited ones. */
function hasOwn(value: unknown, key: string | number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return Array.isArray(value) ? typeof key === 'number' && key < value.length : Object.hasOwn(value, key)
}

export function formatJsonPath(path: JsonPath): string {
  return path.map(written).join('').replace(/^\./, '')
}

function written(key: string | number): string {
  if (typeof key === 'number') return `[${key}]`
  // A path that begins with a bare `$` would look like JSONPath.
  return /^[\p{L}\p{N}_$@-]+$/u.test(key) && key !== '$' ? `.${key}` : `[${JSON.stringify(key)}]`
}

/** Whether two values are equal as JSON. The order of properties does not count. */
export function isSameJson(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) || Array.isArray(other)) {
    return (
      Array.isArray(one) &&
      Array.isArray(other) &&
      one.length === other.length &&
      one.every((item, index) => isSameJson(item, other[index]))
    )
  }
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every(
      (name) =>
        Object.hasOwn(other, name) &&
        isSameJson((one as Record<string, unknown>)[name], (other as Record<string, unknown>)[name]),
    )
  )
}
