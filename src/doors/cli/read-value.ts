import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Problem } from '../../operations/problem.ts'
import type { Field } from './fields.ts'
import { jsonFault } from './json-fault.ts'
import type { World } from './world.ts'

/** A text, and where it came from, as a refusal of it begins. */
export interface Found {
  readonly text: string
  readonly is: string
}

/** Where the texts of flags lead: a file, or what is piped in, which can be read once. */
export class Texts {
  readonly #world: Pick<World, 'stdin' | 'folder'>
  #stdinUsedBy: string | null = null

  constructor(world: Pick<World, 'stdin' | 'folder'>) {
    this.#world = world
  }

  get folder(): string {
    return this.#world.folder
  }

  /** What a flag says: the text itself, `@FILE`, or `-` for what is piped in. */
  async behind(flag: string, given: string, problems: Problem[]): Promise<Found | undefined> {
    if (given === '-') return this.stdin(flag, problems)
    return given.startsWith('@') ? this.file(flag, given.slice(1), problems) : { text: given, is: 'is' }
  }

  file(flag: string, path: string, problems: Problem[]): Found | undefined {
    const is = `names ${JSON.stringify(path)}, which`
    try {
      return this.#decoded(flag, readFileSync(resolve(this.folder, path)), { is: `${is} is`, problems })
    } catch (error) {
      const problem = `${is} ${whyUnread(error as NodeJS.ErrnoException)}`
      problems.push({ field: flag, problem, expected: 'the path of a file that can be read' })
      return undefined
    }
  }

  async stdin(flag: string, problems: Problem[]): Promise<Found | undefined> {
    const { stdin } = this.#world
    const expected = `a file, or something piped in: … | belfry … ${flag} -`
    if (this.#stdinUsedBy !== null) {
      const problem = `reads what is piped in, which ${this.#stdinUsedBy} has read already`
      problems.push({ field: flag, problem, expected: 'a file for one of the two' })
      return undefined
    }
    if (stdin.isTTY === true) {
      problems.push({ field: flag, problem: 'is -, and nothing is piped in', expected })
      return undefined
    }
    this.#stdinUsedBy = flag
    const chunks: Buffer[] = []
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
    return this.#decoded(flag, Buffer.concat(chunks), { is: 'is -, and what is piped in is', problems })
  }

  /** Bytes that are no text would be replaced without a word. */
  #decoded(
    flag: string,
    bytes: Buffer,
    { is, problems }: { readonly is: string; readonly problems: Problem[] },
  ): Found | undefined {
    if (isUtf8(bytes)) return { text: bytes.toString('utf8'), is }
    problems.push({ field: flag, problem: `${is} no text in UTF-8`, expected: 'a text; bytes can be sent as base64' })
    return undefined
  }
}

function whyUnread({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist'
    case 'EISDIR':
      return 'is a folder'
    case 'EACCES':
      return 'this user may not read'
    default:
      return `cannot be read: ${message}`
  }
}

/**
 * What the texts behind a flag ask for. A text that is no number is handed on as it is: the verb's own schema says best
 * what would be right.
 */
export async function readValue(
  field: Field,
  given: readonly string[],
  texts: Texts,
  problems: Problem[],
): Promise<unknown> {
  const { flag, kind } = field
  const text = given.at(-1) ?? ''
  if (kind === 'list') return given.flatMap((one) => one.split(',')).map((one) => one.trim())
  if (given.length > 1) {
    problems.push({ field: flag, problem: `is given ${given.length} times`, expected: 'it once' })
    return undefined
  }
  if (kind === 'integer') return /^-?(0|[1-9]\d{0,14})$/.test(text) ? Number(text) : text
  if (kind === 'number') return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text
  if (kind !== 'json') return text
  const found = await texts.behind(flag, text, problems)
  const expected = `JSON such as '{"day":"today"}' or '"a text"', @FILE, or - for what is piped in`
  return found === undefined ? undefined : jsonOf(flag, found, { expected, problems })
}

export function jsonOf(
  flag: string,
  { text, is }: Found,
  { expected, problems }: { readonly expected: string; readonly problems: Problem[] },
): unknown {
  try {
    const value = JSON.parse(text)
    const inexact = inexactNumber(text)
    if (inexact === undefined) return value
    const problem = `${is} JSON with the number ${inexact}, which would not be kept exactly`
    problems.push({ field: flag, problem, expected: `a text in its place: "${inexact}"` })
    return undefined
  } catch {
    problems.push({ field: flag, problem: text.trim() === '' ? `${is} empty` : `${is} ${unreadable(text)}`, expected })
    return undefined
  }
}

/** An integer with more digits than a number here has: reading it makes another one of it. */
function inexactNumber(json: string): string | undefined {
  const outsideTexts = json.replace(/"(?:[^"\\]|\\.)*"/gs, '""')
  const integers = outsideTexts.match(/-?\d{16,}(?![\d.eE])/g) ?? []
  return integers.find((digits) => !Number.isSafeInteger(Number(digits)))
}

function unreadable(text: string): string {
  const fault = jsonFault(text)
  if (fault === null) return 'not JSON'
  const { line, column, isEnd, belongs } = fault
  const where = text.includes('\n') ? `line ${line}, character ${column}` : `character ${column}`
  return isEnd ? `not whole JSON: it ends where ${belongs} belongs` : `not JSON at ${where}, where ${belongs} belongs`
}
