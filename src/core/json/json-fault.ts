/** Where a text stops being JSON, and what belongs there; line and column count from 1. */
export interface JsonFault {
  readonly line: number
  readonly column: number
  /** Whether the text ends there. */
  readonly isEnd: boolean
  readonly belongs: string
}

class Misfit extends Error {
  readonly position: number
  readonly belongs: string

  constructor(position: number, belongs: string) {
    super(belongs)
    this.position = position
    this.belongs = belongs
  }
}

/**
 * The first position at which a text is not JSON; `null` where it is valid, or the position cannot be found. The runtime's own
 * parser reports the position of some mistakes only, and each version words it differently.
 */
export function jsonFault(text: string): JsonFault | null {
  try {
    const end = blanks(text, value(text, blanks(text, 0)))
    if (end === text.length) return null
    return faultAt(text, end, 'nothing more')
  } catch (error) {
    if (error instanceof Misfit) return faultAt(text, error.position, error.belongs)
    // Nested too deeply for recursion.
    if (error instanceof RangeError) return null
    throw error
  }
}

function faultAt(text: string, position: number, belongs: string): JsonFault {
  const before = text.slice(0, position).split('\n')
  return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1, isEnd: position >= text.length, belongs }
}

const scalar = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON forbids them inside a text.
const quotedText = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*"/y

/** Each of these functions returns the position after what it has read. */
function value(text: string, position: number): number {
  if (text[position] === '{') return members(text, position, '}', member)
  if (text[position] === '[') return members(text, position, ']', value)
  if (text[position] === '"') return string(text, position, 'a text that ends with a double quote')
  return matched(scalar, text, position) ?? misfit(position, 'a value')
}

function members(text: string, start: number, end: string, one: typeof value): number {
  let position = blanks(text, start + 1)
  if (text[position] === end) return position + 1
  for (;;) {
    position = blanks(text, one(text, position))
    if (text[position] === end) return position + 1
    if (text[position] !== ',') misfit(position, `a comma or ${end}`)
    position = blanks(text, position + 1)
  }
}

function member(text: string, position: number): number {
  const colon = blanks(text, string(text, position, 'a name in double quotes'))
  if (text[colon] !== ':') misfit(colon, 'a colon')
  return value(text, blanks(text, colon + 1))
}

function string(text: string, position: number, belongs: string): number {
  return matched(quotedText, text, position) ?? misfit(position, belongs)
}

function blanks(text: string, position: number): number {
  return matched(/[ \t\r\n]*/y, text, position) ?? position
}

function matched(pattern: RegExp, text: string, position: number): number | null {
  pattern.lastIndex = position
  return pattern.test(text) ? pattern.lastIndex : null
}

function misfit(position: number, belongs: string): never {
  throw new Misfit(position, belongs)
}
