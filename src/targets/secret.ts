import { constants, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { BelfryError } from '../core/error.ts'
import { isSecretName, secretNameExpected } from '../core/secret-name.ts'

/*
 * Secrets as targets use them. A target says `{ secret: 'NAME' }` in place of a text; what is stored and shown is that
 * reference. An executor turns references into values just before it needs them and keeps the values for redaction:
 *
 *   const { value, secrets } = await resolver.resolve(target.headers)
 *   attempt.output(redact(text, secrets))          // of redact.ts, for a text that is whole
 *   const stream = redactor(secrets)               // likewise, for one that comes in pieces
 *   attempt.output(stream.add(piece)); …; attempt.output(stream.end())
 *
 * A missing secret throws before anything was begun. `unavailable` is what an operator can fix, so the run may be
 * retried; `invalid` is a target that was never valid.
 */

/** A reference to a secret in a target: an object with this field and no other. */
export interface SecretReference {
  readonly secret: string
}

export interface Secret {
  readonly name: string
  readonly value: string
}

export interface SecretSources {
  /** Contains `BELFRY_SECRET_NAME` and `BELFRY_SECRET_NAME_FILE`. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder with one file per secret, `.belfry/secrets`; `null` where there is none. */
  readonly folder: string | null
}

export interface Resolved {
  /** A copy with each reference replaced by its value; the same object when it has none. */
  readonly value: unknown
  /** The used secrets, each once. */
  readonly secrets: readonly Secret[]
}

export interface SecretResolver {
  /**
   * Replaces every reference, at any depth. Each call reads the secrets again, so that a changed secret is used from then on.
   */
  resolve(value: unknown): Promise<Resolved>
}

const root = 0
const secretBytesMax = 32 * 1024
/** With a newline at its end, and one more byte to detect that it is too long. */
const fileBytesMax = secretBytesMax + 3

/** An object whose only field is `secret`, with a valid name or not. With more fields it is ordinary data. */
export function isSecretReference(value: unknown): value is { readonly secret: unknown } {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'secret')) return false
  return Object.keys(value).length === 1
}

export function secretResolver(sources: SecretSources): SecretResolver {
  return {
    async resolve(value) {
      const names = [...namesIn(value)]
      const found = new Map<string, string>()
      for (const name of names) found.set(name, await secretValue(name, sources))
      const secrets = [...found].map(([name, value]) => ({ name, value }))
      return { value: names.length === 0 ? value : filled(value, found), secrets }
    },
  }
}

function namesIn(value: unknown, names: Set<string> = new Set()): Set<string> {
  if (isSecretReference(value)) names.add(checkedName(value.secret))
  else if (typeof value === 'object' && value !== null) for (const inner of Object.values(value)) namesIn(inner, names)
  return names
}

function filled(value: unknown, found: ReadonlyMap<string, string>): unknown {
  if (isSecretReference(value)) return found.get(String(value.secret))
  if (Array.isArray(value)) return value.map((inner) => filled(inner, found))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, filled(inner, found)]))
}

function checkedName(name: unknown): string {
  if (isSecretName(name)) return name
  // The name may be the secret itself, in the wrong place, so it is not shown.
  throw new BelfryError('invalid', `A secret's name is not valid: it needs ${secretNameExpected}.`)
}

async function secretValue(name: string, { env, folder }: SecretSources): Promise<string> {
  const variable = `BELFRY_SECRET_${name}`
  const given = env[variable]
  if (given !== undefined) return checkedValue(name, given, `the variable ${variable}`)
  const named = env[`${variable}_FILE`]
  if (named !== undefined) {
    // The operator who named the file chose its mode; a mounted secret is often world-readable inside its container.
    const file = { name, path: named, place: `the file that ${variable}_FILE names`, isPrivate: false }
    const found = await secretInFile(file)
    if (found === null) throw refused(name, `${file.place} does not exist`)
    return found
  }
  const path = folder === null ? null : join(folder, name)
  const found = path === null ? null : await secretInFile({ name, path, place: `the file ${path}`, isPrivate: true })
  if (found !== null) return found
  const nowhere = path === null ? 'no folder of secrets (.belfry/secrets)' : `no file ${path}`
  throw new BelfryError(
    'unavailable',
    `The secret ${name} is missing: ${variable} and ${variable}_FILE are not set, and there is ${nowhere}.`,
    { hint: 'Set it in one of these places on the worker’s machine.', details: { secret: name } },
  )
}

interface SecretFile {
  readonly name: string
  readonly path: string
  /**
   * Its name in messages. The content of a variable is never shown: it may be the secret itself, put into the wrong
   * variable.
   */
  readonly place: string
  /** Whether the file is refused when other users own it or have rights to it. */
  readonly isPrivate: boolean
}

/** The content of a file without the newline that editors add; `null` when there is no such file. */
async function secretInFile(file: SecretFile): Promise<string | null> {
  const bytes = await bytesOf(file)
  if (bytes === null) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return checkedValue(file.name, text.replace(/\r?\n$/, ''), file.place)
  } catch (error) {
    throw error instanceof BelfryError ? error : refused(file.name, `${file.place} is not text in UTF-8`)
  }
}

async function bytesOf({ name, path, place, isPrivate }: SecretFile): Promise<Buffer | null> {
  let handle: FileHandle | undefined
  try {
    // One handle, so that the checked file is the one that is read. Non-blocking, in case it is a pipe without a writer.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await handle.stat()
    const wrong = stat.isFile() ? (isPrivate ? rightsProblem(stat) : null) : 'is not a file'
    if (wrong !== null) throw refused(name, `${place} ${wrong}`)
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(fileBytesMax), 0, fileBytesMax, 0)
    return buffer.subarray(0, bytesRead)
  } catch (error) {
    if (error instanceof BelfryError) throw error
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'for an unknown reason'
    if (code === 'ENOENT') return null
    throw refused(name, `${place} cannot be read (${code})`)
  } finally {
    await handle?.close()
  }
}

/** A file of another user is refused, because that user could choose its content; root could do so anyway. */
function rightsProblem({ uid, mode }: Pick<Stats, 'uid' | 'mode'>): string | null {
  const own = process.geteuid?.()
  if (own !== undefined && uid !== own && uid !== root) {
    return `belongs to user ${uid}, and this is user ${own}; it must belong to this user or to root (chown)`
  }
  if ((mode & 0o077) === 0) return null
  const shown = (mode & 0o777).toString(8).padStart(4, '0')
  return `has the mode ${shown}, which gives rights to others; it needs 0600 (chmod 600)`
}

function checkedValue(name: string, value: string, place: string): string {
  if (value === '') throw refused(name, `${place} is empty`)
  // A value with a NUL character is refused: no argument, variable or header can contain one, and
  // the later error would show the value.
  if (value.includes('\0')) throw refused(name, `${place} holds a NUL character`)
  if (Buffer.byteLength(value) > secretBytesMax) throw refused(name, `${place} holds over ${secretBytesMax} bytes`)
  return value
}

function refused(name: string, why: string): BelfryError {
  return new BelfryError('unavailable', `The secret ${name} cannot be used: ${why}.`, { details: { secret: name } })
}
