import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { isAlias, isPair, isScalar, type ParsedNode, parseDocument, type Scalar, visit } from 'yaml'
import { BelfryError } from '../core/error.ts'

/** A file as it was read: a record of what it says, or nothing at all. */
export interface ConfigFile {
  readonly path: string
  /** `null` where there is no file, or nothing in it. */
  readonly document: Readonly<Record<string, unknown>> | null
  /** Of the very text, since trust is given to that. */
  readonly hash: string
  readonly isThere: boolean
}

const bytesMax = 1024 * 1024

/** Reads a file. What is no YAML, or YAML of something else than named parts, is refused with its line and column. */
export async function readConfigFile(path: string): Promise<ConfigFile> {
  const text = await textOf(path)
  const document = text === null ? null : documentOf(path, text)
  return { path, document, hash: hashOf(text ?? ''), isThere: text !== null }
}

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
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    if (error instanceof TypeError) throw refused(path, 'is no text in UTF-8', 'YAML in UTF-8')
    throw new BelfryError('unavailable', `${path} cannot be read: ${message}.`, {
      hint: 'See to the rights of the file.',
      details: { file: path },
    })
  }
}

/** No more than is needed to see that it is too much: a tree may come with a link to something that never ends. */
async function bytesOf(path: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of createReadStream(path, { end: bytesMax })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function documentOf(path: string, text: string): ConfigFile['document'] {
  const parsed = parseDocument(text, { version: '1.2', merge: false, uniqueKeys: isSameName, prettyErrors: true })
  const [fault] = [...parsed.errors, ...parsed.warnings]
  if (fault !== undefined) {
    const [place] = fault.linePos ?? []
    const where = place === undefined ? '' : ` at line ${place.line}, column ${place.col}`
    throw new BelfryError('invalid', `${path}${where}: ${sentence(fault.message)}`, {
      hint: hintFor(fault.code, text, place?.line),
      details: { file: path, ...(place !== undefined && { line: place.line, column: place.col }) },
    })
  }
  visit(parsed, (_, node) => {
    // One that stands for another is easily missed by whoever reads the file, and trusts it.
    if (isAlias(node)) throw refused(path, `has the alias *${node.source}`, 'what is meant, written out')
    // A record drops it without a word.
    if (isPair(node) && nameOf(node.key) === '__proto__') throw refused(path, 'has the name __proto__', 'another name')
    const inexact = isScalar(node) ? inexactNumber(node) : null
    if (inexact === null) return
    throw refused(path, `has the number ${inexact}, which would not be kept exactly`, `a text: "${inexact}"`)
  })
  const document: unknown = parsed.toJS()
  if (document === null || document === undefined) return null
  if (typeof document === 'object' && !Array.isArray(document)) return document as Readonly<Record<string, unknown>>
  throw refused(
    path,
    `is ${Array.isArray(document) ? 'a list' : `a ${typeof document}`}`,
    'source, queues, schedules, tokens, server',
  )
}

/** What is read afterwards has texts for names: 1 and "1" are the same there, and one of the two would be lost. */
function isSameName(one: ParsedNode, other: ParsedNode): boolean {
  const name = nameOf(one)
  return name !== null && name === nameOf(other)
}

function nameOf(key: unknown): string | null {
  return isScalar(key) ? String(key.value ?? '') : null
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
  return new BelfryError('invalid', `${path} ${problem} (expected: ${expected}).`, { details: { file: path } })
}
