import { open } from 'node:fs/promises'
import { BelfryError } from '../../core/error.ts'
import { promptBytesMax, promptProblem, tooLong } from './agent-target.ts'

/** The prompt in a file, read when a run starts. */
export async function promptIn(path: string): Promise<string> {
  const text = await textOf(path)
  const wrong = typeof text === 'string' ? promptProblem(text) : tooLong(text.bytes)
  if (wrong === null) return text as string
  throw new BelfryError('invalid', `The prompt in ${path} ${wrong[0]}; it needs ${wrong[1]}.`)
}

/** The text, or the size of a file that is too long. */
async function textOf(path: string): Promise<string | { readonly bytes: number }> {
  try {
    const file = await open(path, 'r')
    try {
      // One byte more than the maximum shows that the prompt is too long.
      const buffer = Buffer.alloc(promptBytesMax + 1)
      let length = 0
      for (let bytesRead = -1; bytesRead !== 0 && length < buffer.length; length += bytesRead) {
        bytesRead = (await file.read(buffer, length, buffer.length - length)).bytesRead
      }
      if (length > promptBytesMax) return { bytes: Math.max(length, (await file.stat()).size) }
      return new TextDecoder().decode(buffer.subarray(0, length))
    } finally {
      await file.close()
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'for an unknown reason'
    throw new BelfryError('unavailable', `The prompt file ${path} cannot be read (${code}).`, { cause: error })
  }
}
