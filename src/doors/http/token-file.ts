import { chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import type { OperationContext } from '../../operations/context.ts'
import { isSecretOf, tokenPartsOf } from '../../operations/token/secret.ts'
import { tokenOperations } from '../../operations/token/token.ts'

const fileName = 'token'

export function tokenFileIn(belfryFolder: string): string {
  return join(belfryFolder, fileName)
}

/** The token that lies in a folder, if there is one. */
export function tokenIn(belfryFolder: string): string | null {
  try {
    return readFileSync(tokenFileIn(belfryFolder), 'utf8').trim() || null
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

export interface OwnToken {
  readonly file: string
  readonly isNew: boolean
}

/**
 * Sees to it that whoever works in this folder has a token that lets them in; it is theirs alone to read. One that the
 * store does not know any more is replaced: the store was made anew, or somebody has revoked it.
 */
export async function ensureToken(context: OperationContext, belfryFolder: string): Promise<OwnToken> {
  const file = tokenFileIn(belfryFolder)
  if (await isGood(context, tokenIn(belfryFolder))) return { file, isNew: false }
  const name = `local ${hostname().slice(0, 100)} ${context.randomHex(3)}`
  const { token } = await tokenOperations.create.call(context, { name, scope: 'admin' })
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // Written beside and put in its place whole: whoever reads it meanwhile has the old one or the new one.
  const written = `${file}.${context.randomHex(4)}`
  writeFileSync(written, `${token}\n`, { flag: 'wx', mode: 0o600 })
  chmodSync(written, 0o600)
  renameSync(written, file)
  return { file, isNew: true }
}

async function isGood({ store }: OperationContext, text: string | null): Promise<boolean> {
  const parts = text === null ? null : tokenPartsOf(text)
  const found = parts === null ? null : await store.read.token(parts.id)
  if (parts === null || found === null || !isSecretOf(parts.secret, found.hash)) return false
  return found.revokedAt === null && (found.expiresAt === null || found.expiresAt > found.now)
}
