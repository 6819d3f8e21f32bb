import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { BelfryError } from '../core/error.ts'

/** A file of lines that only this user can write. A write replaces the whole file, so that a reader never sees half of it. */
export class LineFile {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  read(): string[] {
    if (!existsSync(this.path)) return []
    return readFileSync(this.path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  }

  write(lines: readonly string[]): void {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    const fresh = `${this.path}.${process.pid}`
    writeFileSync(fresh, `${lines.join('\n')}\n`, { mode: 0o600 })
    renameSync(fresh, this.path)
  }
}

/** Refuses a path with a line break: its second line would name another path. */
export function refuseLineBreak(path: string): void {
  if (!path.includes('\n')) return
  throw new BelfryError('invalid', `${JSON.stringify(path)} has a line break in its name.`, {
    hint: 'Rename it, or the folder that it lies in.',
  })
}
