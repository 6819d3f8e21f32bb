/** A step into a JSON value: the name of a member or the index of an item; `-` is a new item at the end of a list. */
export type JsonStep = string | number

interface Entry {
  readonly key: JsonStep
  /** Where the entry begins, with its name. */
  readonly start: number
  readonly valueStart: number
  readonly end: number
}

interface Container {
  readonly start: number
  readonly end: number
  readonly entries: readonly Entry[]
}

/**
 * Adds a value to a JSON text, and leaves every other byte unchanged. Missing containers on the path are created. The text must
 * be valid JSON, the values on the path must be objects, and the value before `-` a list.
 */
export function withEntry(text: string, path: readonly JsonStep[], value: unknown): string {
  let container = containerAt(text, skipBlank(text, text.startsWith('\uFEFF') ? 1 : 0))
  for (const [depth, step] of path.entries()) {
    const found = container.entries.findLast(({ key }) => key === step)
    if (found === undefined) return inserted(text, container, step, made(path.slice(depth + 1), value))
    container = containerAt(text, found.valueStart)
  }
  return text
}

/**
 * Removes an entry from a JSON text, and the containers that become empty, except those of the first `stepsKept` steps. The path
 * must exist.
 */
export function withoutEntry(text: string, path: readonly JsonStep[], stepsKept = 0): string {
  let container = containerAt(text, skipBlank(text, text.startsWith('\uFEFF') ? 1 : 0))
  for (const step of path.slice(0, -1)) container = containerAt(text, entryOf(container, step).valueStart)
  if (container.entries.length === 1 && path.length > stepsKept + 1) {
    return withoutEntry(text, path.slice(0, -1), stepsKept)
  }
  const at = container.entries.indexOf(entryOf(container, path.at(-1) as JsonStep))
  const [before, own, after] = [container.entries[at - 1], container.entries[at] as Entry, container.entries[at + 1]]
  if (before !== undefined) return cut(text, before.end, own.end)
  return after === undefined ? cut(text, container.start + 1, container.end - 1) : cut(text, own.start, after.start)
}

function cut(text: string, from: number, to: number): string {
  return text.slice(0, from) + text.slice(to)
}

function entryOf({ entries }: Container, step: JsonStep): Entry {
  const found = entries.findLast(({ key }) => key === step)
  if (found === undefined) throw new Error(`There is no entry ${step}.`)
  return found
}

function made(path: readonly JsonStep[], value: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return value
  return step === '-' ? [made(rest, value)] : { [step]: made(rest, value) }
}

/** Inserts after the last entry, in the style of the text around it: on a line of its own, or on the same line. */
function inserted(text: string, { start, end, entries }: Container, step: JsonStep, value: unknown): string {
  const name = step === '-' ? '' : `${JSON.stringify(step)}: `
  const [first, last] = [entries[0], entries.at(-1)]
  const margin = first === undefined ? null : marginOf(text, first.start)
  if (last !== undefined && margin === null) {
    return `${text.slice(0, last.end)}, ${name}${JSON.stringify(value)}${text.slice(last.end)}`
  }
  const unit = /\n([ \t]+)"/.exec(text)?.[1] ?? '  '
  const outer = /(?:^|\n)([ \t]*)[^\n]*$/.exec(text.slice(0, start))?.[1] ?? ''
  const inner = margin ?? outer + unit
  const written = `\n${inner}${name}${JSON.stringify(value, null, unit).replaceAll('\n', `\n${inner}`)}`
  const native = (piece: string) => (text.includes('\r\n') ? piece.replaceAll('\n', '\r\n') : piece)
  if (last !== undefined) return `${text.slice(0, last.end)},${native(written)}${text.slice(last.end)}`
  return `${text.slice(0, start + 1)}${native(`${written}\n${outer}`)}${text.slice(end - 1)}`
}

/** The blanks before an entry that begins its line. */
function marginOf(text: string, start: number): string | null {
  return /\n([ \t]*)$/.exec(text.slice(0, start))?.[1] ?? null
}

function containerAt(text: string, start: number): Container {
  const isList = text[start] === '['
  const entries: Entry[] = []
  for (let at = skipBlank(text, start + 1); ; at = skipBlank(text, at + 1)) {
    if (text[at] === (isList ? ']' : '}')) return { start, end: at + 1, entries }
    const entry = isList ? itemAt(text, at, entries.length) : memberAt(text, at)
    entries.push(entry)
    at = skipBlank(text, entry.end)
    if (text[at] !== ',') return { start, end: at + 1, entries }
  }
}

function itemAt(text: string, start: number, key: number): Entry {
  return { key, start, valueStart: start, end: endOf(text, start) }
}

function memberAt(text: string, start: number): Entry {
  const nameEnd = endOf(text, start)
  const valueStart = skipBlank(text, skipBlank(text, nameEnd) + 1)
  return { key: JSON.parse(text.slice(start, nameEnd)), start, valueStart, end: endOf(text, valueStart) }
}

function endOf(text: string, start: number): number {
  if (text[start] === '{' || text[start] === '[') return containerAt(text, start).end
  return matched(text[start] === '"' ? /"(?:[^"\\]|\\.)*"/y : /[^\s,\]}]+/y, text, start)
}

function skipBlank(text: string, start: number): number {
  return matched(/[ \t\r\n]*/y, text, start)
}

function matched(pattern: RegExp, text: string, start: number): number {
  pattern.lastIndex = start
  return start + (pattern.exec(text)?.[0].length ?? 0)
}
