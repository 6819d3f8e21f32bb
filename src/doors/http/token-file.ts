import { createHash } from 'node:crypto'
import { chmodSync, closeSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { OperationContext } from '../../operations/operation-context.ts'
import { tokenOperations } from '../../operations/token/noun.ts'
import { isSecretOf, tokenPartsOf } from '../../operations/token/token-secret.ts'
import { findToken } from '../../store/tokens/find-token.ts'
import { openToRead } from '../open-to-read.ts'

const fileName = 'token'
const defaultNamespace = 'default'
const otherFile = /^token\..+$/

/** The token file of a namespace: `token` for the default one, `token.NAME` for each other, so that workers of two namespaces in one folder do not share one. A name that is no plain file name is replaced by its hash. */
export function tokenFileIn(belfryFolder: string, namespace: string = defaultNamespace): string {
  if (namespace === defaultNamespace) return join(belfryFolder, fileName)
  const isPlain = /^[a-z0-9][a-z0-9_-]{0,99}$/.test(namespace)
  const ending = isPlain ? namespace : `~${createHash('sha256').update(namespace).digest('hex').slice(0, 32)}`
  return join(belfryFolder, `${fileName}.${ending}`)
}

/** The token file for a caller that does not know the server's namespace: that of the default one, or the only one. */
export function tokenFileAround(belfryFolder: string): string {
  const usual = tokenFileIn(belfryFolder)
  const [only, ...more] = tokenFilesIn(belfryFolder)
  return only === undefined || more.length > 0 ? usual : join(belfryFolder, only)
}

export function tokenFilesIn(belfryFolder: string): string[] {
  try {
    return readdirSync(belfryFolder).filter((name) => name === fileName || otherFile.test(name))
  } catch {
    // No folder, or one that this user may not read: reading the token reports it.
    return []
  }
}

export function tokenIn(file: string): string | null {
  try {
    const handle = openToRead(file)
    try {
      return readFileSync(handle, 'utf8').trim() || null
    } finally {
      closeSync(handle)
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export interface OwnToken {
  readonly file: string
  readonly isNew: boolean
}

/** Ensures a token for this namespace that only the current user can read. A token that the store does not know is replaced: the store was created again, or a person revoked the token. */
export async function ensureToken(context: OperationContext, belfryFolder: string): Promise<OwnToken> {
  const file = tokenFileIn(belfryFolder, context.store.namespace)
  if (await isGood(context, tokenIn(file))) return { file, isNew: false }
  // Earlier versions wrote the tokens of all namespaces to one file.
  const earlier = tokenIn(tokenFileIn(belfryFolder))
  if (earlier !== null && (await isGood(context, earlier))) {
    write(file, earlier, context)
    return { file, isNew: false }
  }
  const name = `local ${hostname().slice(0, 100)} ${context.randomHex(3)}`
  const { token } = await tokenOperations.create.call(context, { name, scope: 'admin' })
  write(file, token, context)
  return { file, isNew: true }
}

/** Written to a temporary file and renamed: a reader sees the old token or the new one. */
function write(file: string, token: string, { randomHex }: OperationContext): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const written = join(dirname(file), `.${basename(file)}.${randomHex(4)}`)
  writeFileSync(written, `${token}\n`, { flag: 'wx', mode: 0o600 })
  chmodSync(written, 0o600)
  renameSync(written, file)
}

async function isGood({ store }: OperationContext, text: string | null): Promise<boolean> {
  const parts = text === null ? null : tokenPartsOf(text)
  const found = parts === null ? null : await store.look(findToken, parts.id)
  if (parts === null || found === null || !isSecretOf(parts.secret, found.hash)) return false
  return found.revokedAt === null && (found.expiresAt === null || found.expiresAt > found.now)
}
