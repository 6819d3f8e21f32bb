import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  Parser,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { BelfryError } from '../../core/error.ts'
import { NoRegularFile, openToRead } from '../../doors/open-to-read.ts'
import { bytesMax, levelsMax, tokensInTurnMax, tokensMax, tokensOf } from './document-bounds.ts'

/** A file as it was read: a record of what it says, or nothing at all. */
export interface ConfigFile {
  readonly path: string
  /** `null` where there is no file, or nothing in it. */
  readonly document: Readonly<Record<string, unknown>> | null
  /** Of the very text, since trust is given to that. */
  readonly hash: string
  readonly isThere: boolean
}

/**
 * Reads a file. Whatever is not YAML with named parts is refused with its line and column. A worker reads the same file
 * again and again, so that the same text is not parsed twice.
 */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const text = await textOf(path)
  const hash = hashOf(text ?? '')
  const isThere = text !== null
  if (last?.path === path && last.hash === hash && last.isThere === isThere) {
    if ('error' in last) throw last.error
    return last
  }
  try {
    last = { path, document: text === null ? null : await documentOf(path, text), hash, isThere }
    return last
  } catch (error) {
    if (error instanceof BelfryError) last = { path, hash, isThere, error }
    throw error
  }
}

/** What the last text came to: a worker looks at the same file again and again. */
let last: ConfigFile | (Omit<ConfigFile, 'document'> & { readonly error: BelfryError }) | null = null

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function textOf(path: string): Promise<string | null> {
  try {
    const bytes = await bytesOf(path)
    if (bytes.length > bytesMax) throw refused(path, `has more than ${bytesMax} bytes`, 'fewer')
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (error instanceof BelfryError) throw error
    if (error instanceof NoRegularFile) throw refused(path, error.message, 'a file with YAML in it')
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (code === 'EISDIR') throw refused(path, 'is a folder', 'a file with YAML in it')
    if (error instanceof TypeError) throw refused(path, 'is no text in UTF-8', 'YAML in UTF-8')
    throw faulty({ file: path }, `cannot be read: ${message}.`, 'See to the rights of the file.', 'unavailable')
  }
}

/** No more than is needed to see that it is too much. */
async function bytesOf(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream('', { fd: openToRead(path), end: bytesMax })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function documentOf(path: string, text: string): Promise<ConfigFile['document']> {
  const tokens = await tokensOf(text)
  if (tokens === 'too-deep') throw tooDeep(path)
  if (tokens === 'too-many') {
    throw refused(
      path,
      `has more than ${tokensMax} words and signs`,
      'less; another file with another source may have the rest',
    )
  }
  try {
    return recordOf(path, await parsedOf(path, { text, tokens }))
  } catch (error) {
    // What lies inside each other is read by functions that call each other.
    if (error instanceof RangeError) throw tooDeep(path)
    throw error
  }
}

function tooDeep(path: string): BelfryError {
  return refused(path, 'has parts too deep inside each other', `at most ${levelsMax} levels`)
}

interface Tokenized {
  readonly text: string
  readonly tokens: readonly string[]
}

async function parsedOf(path: string, read: Tokenized): Promise<unknown> {
  const lines = new LineCounter()
  const parts = await partsOf(read.tokens, lines)
  const parsed = withoutStacks(() => composed(path, { parts, length: read.text.length }, lines))
  const [fault] = [...parsed.errors, ...parsed.warnings]
  if (fault !== undefined) {
    const { line, col: column } = lines.linePos(fault.pos[0])
    throw faulty({ file: path, line, column }, sentence(fault.message), hintFor(fault.code, read.text, line))
  }
  return saidBy(parsed.contents, { path, lines })
}

interface Reading {
  readonly path: string
  readonly lines: LineCounter
}

/** What a part of the file says. It is judged and taken over in one walk. */
function saidBy(node: unknown, reading: Reading): unknown {
  const { path } = reading
  if (isScalar(node)) {
    const inexact = inexactNumber(node)
    if (inexact === null) return node.value
    throw refused(path, `has the number ${inexact}, which would not be kept exactly`, `a text: "${inexact}"`)
  }
  if (isMap(node)) return recordIn(node, reading)
  if (isSeq(node)) return node.items.map((item) => saidBy(item, reading))
  // An alias stands for something else in the file, which a person who reads it and trusts it easily misses.
  if (isAlias(node)) throw refused(path, `has the alias *${node.source}`, 'what is meant, written out')
  return null
}

/** Names are texts in what is read afterwards: 1 and "1" are the same there, and one of the two would be lost. */
function recordIn({ items }: YAMLMap, reading: Reading): Readonly<Record<string, unknown>> {
  const { path, lines } = reading
  const record: Record<string, unknown> = {}
  for (const { key, value } of items) {
    // It would become the name that it looks like, and to write that down costs more than to read the file.
    if (isCollection(key)) throw refused(path, 'has a list or a record as a name', 'a text')
    const name = String(saidBy(key, reading) ?? '')
    // A record drops it without a word.
    if (name === '__proto__') throw refused(path, 'has the name __proto__', 'another name')
    if (Object.hasOwn(record, name)) {
      const { line, col: column } = lines.linePos((key as Scalar).range?.[0] ?? 0)
      const says = `the name ${JSON.stringify(name)} is given twice.`
      throw faulty({ file: path, line, column }, says, hintFor('DUPLICATE_KEY', '', line))
    }
    record[name] = saidBy(value, reading)
  }
  return record
}

/** The parser makes an error of each thing that is wrong; to write down where it was made costs more than to make it. */
function withoutStacks<Result>(parse: () => Result): Result {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

// Errors in full would each look for their line from the beginning of the file, and names be compared each with each.
const readAs = { version: '1.2', merge: false, uniqueKeys: false, prettyErrors: false } as const

/** The documents that the words and signs of a text make: the first, and a second one that is refused. */
async function partsOf(tokens: readonly string[], lines: LineCounter): Promise<CST.Token[]> {
  const parser = new Parser(lines.addNewLine)
  const parts: CST.Token[] = []
  let documents = 0
  lines.addNewLine(0)
  for (let at = 0; at < tokens.length && documents < 2; at++) {
    if (at % tokensInTurnMax === 0) await nextTurn()
    for (const part of parser.next(tokens[at] as string)) {
      parts.push(part)
      if (part.type === 'document') documents++
    }
  }
  return documents < 2 ? [...parts, ...parser.end()] : parts
}

interface Parts {
  readonly parts: readonly CST.Token[]
  /** Of the whole text. */
  readonly length: number
}

/** What the one document says. */
function composed(path: string, { parts, length }: Parts, lines: LineCounter): Document {
  const documents = new Composer(readAs).compose(parts, true, length)
  const first = documents.next().value as Document.Parsed
  const second = first.errors.length === 0 ? (documents.next().value as Document.Parsed | undefined) : undefined
  if (second === undefined) return first
  const { line, col: column } = lines.linePos(second.range[0])
  const hint = 'Write one document; another file with another source may have the rest.'
  throw faulty({ file: path, line, column }, 'a second document begins.', hint)
}

function recordOf(path: string, document: unknown): ConfigFile['document'] {
  if (document === null || document === undefined) return null
  if (typeof document === 'object' && !Array.isArray(document)) return document as Readonly<Record<string, unknown>>
  throw refused(
    path,
    `is ${Array.isArray(document) ? 'a list' : `a ${typeof document}`}`,
    'source, queues, schedules, tokens, server',
  )
}

/** An integer with more digits than a number here has: reading it makes another one of it. */
function inexactNumber({ value, source = '' }: Scalar): string | null {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return null
  return /^[-+]?\d+$/.test(source) ? source : null
}

/** The first line of what the parser says; below it are lines of the file. */
function sentence(message: string): string {
  return `${(message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '').replace(/[.:]$/, '')}.`
}

function hintFor(code: string, text: string, line = 0): string {
  const said = text.split('\n')[line - 1] ?? ''
  // The calendar that people write most often is the one that YAML takes for something else.
  if (/:\s*[*&@%`]/.test(said)) return `Put what begins with a sign into quotes: cron: '*/5 * * * *'.`
  if (code === 'TAB_AS_INDENT') return 'Indent with spaces.'
  return 'Mend the file; nothing of it was applied.'
}

function refused(path: string, problem: string, expected: string): BelfryError {
  return faulty({ file: path }, `${problem} (expected: ${expected}).`)
}

interface Fault {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** A file that cannot be used. Its details have the problem apart from the file, for a command line that tells it with others. */
function faulty(
  where: Fault,
  sentence: string,
  hint?: string,
  code: 'invalid' | 'unavailable' = 'invalid',
): BelfryError {
  const { file, line, column } = where
  const problem = line === undefined ? sentence : `at line ${line}, column ${column}: ${sentence}`
  return new BelfryError(code, `${file} ${problem}`, {
    ...(hint !== undefined && { hint }),
    details: { ...where, problem: problem.replace(/\.$/, '') },
  })
}
