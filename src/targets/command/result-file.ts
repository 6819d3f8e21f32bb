import { constants } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jsonProblem } from '../../core/json/json.ts'
import { redact } from '../redact.ts'
import type { Secret } from '../secret.ts'

const bytesMaxUsual = 1024 * 1024

/** The file in which a program may write its result as JSON. */
export interface ResultFile {
  readonly path: string
  /** The result that the program wrote; `null` if there is none, with the reason if the file cannot be read. */
  read(secrets: readonly Secret[], unread: (why: string) => void): Promise<{ readonly value: unknown } | null>
}

/** Hands out a file in a folder that only this user may enter, and removes both afterwards. The file exists once the program writes it. */
export async function withResultFile<Answer>(
  use: (file: ResultFile) => Promise<Answer>,
  bytesMax = bytesMaxUsual,
): Promise<Answer> {
  const folder = await mkdtemp(join(tmpdir(), 'belfry-result-'))
  const path = join(folder, 'result.json')
  try {
    return await use({ path, read: (secrets, unread) => readResult({ path, bytesMax }, secrets, unread) })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function readResult(
  { path, bytesMax }: { readonly path: string; readonly bytesMax: number },
  secrets: readonly Secret[],
  unread: (why: string) => void,
): Promise<{ readonly value: unknown } | null> {
  const text = await textAt(path, bytesMax)
  if (text === 'none') return null
  if (text === 'unfit' || text === 'long') {
    unread(
      text === 'long'
        ? `the result file is over ${bytesMax / 1024 / 1024} MB and was not read`
        : 'the result file is not a plain file',
    )
    return null
  }
  try {
    const value: unknown = JSON.parse(redact(text.content, secrets))
    if (jsonProblem(value) === null) return { value }
  } catch {
    // The sentence below reports the problem.
  }
  unread('the result file is not JSON and was not read')
  return null
}

/** The program may have put anything there: a link to a file of another user, or a pipe without a writer. */
async function textAt(
  path: string,
  bytesMax: number,
): Promise<{ readonly content: string } | 'none' | 'unfit' | 'long'> {
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
