import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import { readJson } from '../../../core/json/json-text.ts'
import { isRecord } from '../../../core/json/record.ts'

const bytesMax = 4_000_000

/**
 * The text of another program's file; `null` if there is no file. A link could lead out of the project, so neither the file nor its folder
 * may be one.
 */
export function readPlain(path: string): string | null {
  for (const each of [dirname(path), path]) {
    if (lstatSync(each, { throwIfNoEntry: false })?.isSymbolicLink() === true) {
      throw unfit(each, 'is a symbolic link', 'the file itself, in a folder that is no link')
    }
  }
  const handle = opened(path)
  if (handle === null) return null
  try {
    const stats = fstatSync(handle)
    if (!stats.isFile()) throw unfit(path, 'is no file', 'a file')
    if (stats.size > bytesMax) throw unfit(path, `has ${stats.size} bytes`, `at most ${bytesMax}`)
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(handle))
  } catch (error) {
    throw error instanceof TypeError ? unfit(path, 'is no UTF-8', 'text') : error
  } finally {
    closeSync(handle)
  }
}

function opened(path: string): number | null {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Reads a JSON object, or refuses the file with the place of the mistake. */
export function objectIn(path: string, text: string): Record<string, unknown> {
  const read = readJson(text.replace(/^\uFEFF/, ''))
  if ('problem' in read) {
    throw unfit(path, `is ${read.problem}`, read.expected ?? 'a JSON object')
  }
  if (!isRecord(read.value)) throw unfit(path, 'is JSON, but no object', 'a JSON object')
  return read.value
}

/**
 * Replaces the text of a file atomically, or removes the file if the new text is `null`. Refused if another program has written the file
 * meanwhile.
 */
export function replacePlain(path: string, before: string | null, after: string | null, newMode = 0o644): void {
  if (readPlain(path) !== before) throw changedMeanwhile(path)
  if (after === null) rmSync(path)
  else writePlain(path, after, before === null ? newMode : lstatSync(path).mode & 0o777)
}

function writePlain(path: string, text: string, mode: number): void {
  mkdirSync(dirname(path), { recursive: true })
  const fresh = join(dirname(path), `.${basename(path)}.belfry-${process.pid}`)
  try {
    writeFileSync(fresh, text, { mode, flag: 'wx' })
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}

export function unfit(path: string, problem: string, expected: string): BelfryError {
  return new BelfryError('invalid', `${path} ${problem} (expected: ${expected}). Nothing was changed.`, {
    hint: 'Correct the file, and try again.',
    details: { file: path },
  })
}

function changedMeanwhile(path: string): BelfryError {
  return new BelfryError('conflict', `Another program has written ${path} meanwhile; it was left alone.`, {
    hint: 'Try again.',
    details: { file: path },
  })
}
