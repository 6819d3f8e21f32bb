import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonProblem } from '../../core/json/json.ts'
import { redact } from '../redact.ts'
import type { Secret } from '../secret.ts'

const bytesMax = 1024 * 1024

/** Where a program may write its result, as JSON. */
export interface ResultFile {
  readonly path: string
  /** What the program has written; `null` where it wrote nothing that can be read, and why it cannot. */
  read(secrets: readonly Secret[], unread: (why: string) => void): Promise<{ readonly value: unknown } | null>
}

/** Hands out a file in a folder that only this user may enter, and removes both afterwards. The file exists once the program writes it. */
export async function withResultFile<Answer>(use: (file: ResultFile) => Promise<Answer>): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-result-'))
  const path = join(folder, 'result.json')
  try {
    return await use({ path, read: (secrets, unread) => readResult(path, secrets, unread) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readResult(
  path: string,
  secrets: readonly Secret[],
  unread: (why: string) => void,
): Promise<{ readonly value: unknown } | null> {
  const text = await textAt(path)
  if (text === 'none') return null
  if (text === 'unfit' || text === 'long') {
    unread(text === 'long' ? 'the result file is over 1 MB and was not read' : 'the result file is no plain file')
    return null
  }
  try {
    const value: unknown = JSON.parse(redact(text.content, secrets))
    if (jsonProblem(value) === null) return { value }
  } catch {
    // The sentence below says so.
  }
  unread('the result file is not JSON and was not read')
  return null
}

/** The program may have put anything there: a link to a file of another user, or a pipe without a writer. */
async function textAt(path: string): Promise<{ readonly content: string } | 'none' | 'unfit' | 'long'> {
  let handle: FileHandle
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'none' : 'unfit'
  }
  try {
    if (!(await handle.stat()).isFile()) return 'unfit'
    const bytes = Buffer.alloc(bytesMax + 1)
    let length = 0
    for (let read = 1; read > 0 && length <= bytesMax; length += read) {
      read = (await handle.read(bytes, length, bytes.length - length)).bytesRead
    }
    return length > bytesMax ? 'long' : { content: bytes.toString('utf8', 0, length) }
  } finally {
    await handle.close()
  }
}
