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

/** A file as it was read: a record, or nothing. */
export interface ConfigFile {
  readonly path: string
  /** `null`: there is no file, or it is empty. */
  readonly document: Readonly<Record<string, unknown>> | null
  /** The hash of the exact text, because trust is given to that. */
  readonly hash: string
  readonly isThere: boolean
}

/** Reads a file. Anything but a YAML mapping is refused with its line and column. A worker reads the same file repeatedly, so unchanged text is not parsed again. */
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

/** The result for the last text. */
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
    if (code === 'ELOOP') throw refused(path, 'is a symbolic link', 'the file itself')
    if (code === 'EISDIR') throw refused(path, 'is a folder', 'a file with YAML in it')
    if (error instanceof TypeError) throw refused(path, 'is not UTF-8', 'YAML in UTF-8')
    throw faulty({ file: path }, `cannot be read: ${message}.`, 'Check the permissions of the file.', 'unavailable')
  }
}

/** Reads one byte more than allowed at most. */
async function bytesOf(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream('', { fd: openToRead(path), end: bytesMax })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function documentOf(path: string, text: string): Promise<ConfigFile['document']> {
  const tokens = await tokensOf(text)
  if (tokens === 'too-deep') throw tooDeep(path)
  if (tokens === 'too-many') {
    throw refused(path, `has more than ${tokensMax} tokens`, 'less; put the rest into another file with another source')
  }
  try {
    return recordOf(path, await parsedOf(path, { text, tokens }))
  } catch (error) {
    // Nested values are read by recursive functions.
    if (error instanceof RangeError) throw tooDeep(path)
    throw error
  }
}

function tooDeep(path: string): BelfryError {
  return refused(path, 'is nested too deeply', `at most ${levelsMax} levels`)
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

/** The value of a node, checked and copied in one walk. */
function saidBy(node: unknown, reading: Reading): unknown {
  const { path } = reading
  if (isScalar(node)) {
    const inexact = inexactNumber(node)
    if (inexact === null) return node.value
    throw refused(path, `has the number ${inexact}, which cannot be stored exactly`, `a text: "${inexact}"`)
  }
  if (isMap(node)) return recordIn(node, reading)
  if (isSeq(node)) return node.items.map((item) => saidBy(item, reading))
  // An alias stands for another part of the file, which a person who reads and trusts it easily misses.
  if (isAlias(node)) throw refused(path, `has the alias *${node.source}`, 'the value itself')
  return null
}

/** Names become text: 1 and "1" would be the same name, and one of the two would be lost. */
function recordIn({ items }: YAMLMap, reading: Reading): Readonly<Record<string, unknown>> {
  const { path, lines } = reading
  const record: Record<string, unknown> = {}
  for (const { key, value } of items) {
    // A list or record as a name would become a long text, and writing that text costs more than
    // reading the file.
    if (isCollection(key)) throw refused(path, 'has a list or a record as a name', 'a text')
    const name = String(saidBy(key, reading) ?? '')
    // A JavaScript object drops this name silently.
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

/** The parser creates an error for each problem; capturing its stack costs more than the parsing. */
function withoutStacks<Result>(parse: () => Result): Result {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return parse()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

// Full errors would each search for their line from the start, and unique names would be compared pairwise.
const readAs = { version: '1.2', merge: false, uniqueKeys: false, prettyErrors: false } as const

/** The documents of a text: the first, and a second one that is refused. */
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
  readonly length: number
}

function composed(path: string, { parts, length }: Parts, lines: LineCounter): Document {
  const documents = new Composer(readAs).compose(parts, true, length)
  const first = documents.next().value as Document.Parsed
  const second = first.errors.length === 0 ? (documents.next().value as Document.Parsed | undefined) : undefined
  if (second === undefined) return first
  const { line, col: column } = lines.linePos(second.range[0])
  const hint = 'Write one document; put the rest into another file with another source.'
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

/** An integer with too many digits: reading it would change it. */
function inexactNumber({ value, source = '' }: Scalar): string | null {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return null
  return /^[-+]?\d+$/.test(source) ? source : null
}

/** The first line of the parser's message; below it are lines of the file. */
function sentence(message: string): string {
  return `${(message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '').replace(/[.:]$/, '')}.`
}

function hintFor(code: string, text: string, line = 0): string {
  const said = text.split('\n')[line - 1] ?? ''
  // The most common cron text is one that YAML reads as something else.
  if (/:\s*[*&@%`]/.test(said)) return `Put text that begins with a special character into quotes: cron: '*/5 * * * *'.`
  if (code === 'TAB_AS_INDENT') return 'Indent with spaces.'
  return 'Correct the file; nothing of it was applied.'
}

function refused(path: string, problem: string, expected: string): BelfryError {
  return faulty({ file: path }, `${problem} (expected: ${expected}).`)
}

interface Fault {
  readonly file: string
  readonly line?: number
  readonly column?: number
}

/** A file that cannot be used. Its details have the problem without the path, for a command line that reports it with others. */
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
