import { isUtf8 } from 'node:buffer'
import { closeSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { readJson } from '../../../core/json/json-text.ts'
import { numberOf } from '../../../operations/fields/field-kind.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { NoRegularFile, openToRead } from '../../open-to-read.ts'
import type { World } from '../world.ts'
import type { Field } from './command-fields.ts'

/** A text and its source, as the beginning of a refusal. */
export interface Found {
  readonly text: string
  readonly is: string
}

/** Reads the texts that flags name: a file, or stdin, which can be read once. */
export class Texts {
  readonly #world: Pick<World, 'stdin' | 'folder'>
  #stdinUsedBy: string | null = null

  constructor(world: Pick<World, 'stdin' | 'folder'>) {
    this.#world = world
  }

  get folder(): string {
    return this.#world.folder
  }

  /** The value of a flag: the text itself, `@FILE`, or `-` for stdin. */
  async behind(flag: string, given: string, problems: Problem[]): Promise<Found | undefined> {
    if (given === '-') return this.stdin(flag, problems)
    return given.startsWith('@') ? this.file(flag, given.slice(1), problems) : { text: given, is: 'is' }
  }

  /** The content of a file that a flag names, or `-` for stdin. */
  async of(flag: string, path: string, problems: Problem[]): Promise<string | undefined> {
    return (path === '-' ? await this.stdin(flag, problems) : this.file(flag, path, problems))?.text
  }

  file(flag: string, path: string, problems: Problem[]): Found | undefined {
    const is = `names ${JSON.stringify(path)}, which`
    try {
      return this.#decoded(flag, bytesOf(resolve(this.folder, path)), { is: `${is} is`, problems })
    } catch (error) {
      const problem = `${is} ${error instanceof NoRegularFile ? error.message : whyUnread(error as NodeJS.ErrnoException)}`
      problems.push({ field: flag, problem, expected: 'the path of a file that can be read' })
      return undefined
    }
  }

  async stdin(flag: string, problems: Problem[]): Promise<Found | undefined> {
    const { stdin } = this.#world
    const expected = `a file, or input on stdin: … | belfry … ${flag.startsWith('--') ? `${flag} ` : ''}-`
    if (this.#stdinUsedBy !== null) {
      const problem = `reads stdin, which ${this.#stdinUsedBy} has already read`
      problems.push({ field: flag, problem, expected: 'a file for one of the two' })
      return undefined
    }
    if (stdin.isTTY === true) {
      problems.push({ field: flag, problem: 'is -, and stdin is a terminal', expected })
      return undefined
    }
    this.#stdinUsedBy = flag
    const chunks: Buffer[] = []
    for await (const chunk of stdin) chunks.push(Buffer.from(chunk))
    return this.#decoded(flag, Buffer.concat(chunks), { is: 'is -, and stdin is', problems })
  }

  /** Bytes that are no text would be replaced silently. */
  #decoded(
    flag: string,
    bytes: Buffer,
    { is, problems }: { readonly is: string; readonly problems: Problem[] },
  ): Found | undefined {
    if (isUtf8(bytes)) return { text: bytes.toString('utf8'), is }
    problems.push({ field: flag, problem: `${is} not UTF-8`, expected: 'a text; bytes can be sent as base64' })
    return undefined
  }
}

function bytesOf(path: string): Buffer {
  const handle = openToRead(path)
  try {
    return readFileSync(handle)
  } finally {
    closeSync(handle)
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

/** Whether the text of a target's flag is a line for sh: not JSON, a file with it, or stdin. */
export function isLine(text: string): boolean {
  return !/^(?:[{@]|-$|null$)/.test(text)
}

/** The values of a flag. A text that is no number is passed on: the verb's schema reports it best. */
export async function readValue(
  field: Field,
  given: readonly string[],
  texts: Texts,
  problems: Problem[],
): Promise<unknown> {
  const { flag, kind } = field
  const text = given.at(-1) ?? ''
  if (kind === 'list' && field.keepsCommas === true) return given
  if (kind === 'list') return given.flatMap((one) => one.split(',')).map((one) => one.trim())
  if (given.length > 1) {
    problems.push({ field: flag, problem: `is given ${given.length} times`, expected: 'it once' })
    return undefined
  }
  if (kind === 'integer' || kind === 'number') return numberOf(kind, text)
  if (kind === 'file') return texts.of(flag, text, problems)
  if (kind === 'command' && isLine(text)) return { command: text }
  if (kind !== 'json' && kind !== 'command') return text
  const found = await texts.behind(flag, text, problems)
  const form = field.expected ?? `JSON such as '{"day":"today"}' or '"a text"'`
  const expected = `${form}, @FILE, or - for stdin`
  return found === undefined ? undefined : jsonOf(flag, found, { expected, problems })
}

export function jsonOf(
  flag: string,
  { text, is }: Found,
  { expected, problems }: { readonly expected: string; readonly problems: Problem[] },
): unknown {
  const read = readJson(text)
  if ('value' in read) return read.value
  problems.push({ field: flag, problem: `${is} ${read.problem}`, expected: read.expected ?? expected })
  return undefined
}
