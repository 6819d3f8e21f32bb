import { execFileSync } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { onTestFinished } from 'vitest'
import { type Said, Terminal } from '../doors/cli/terminal.ts'

/** The ids of users that own nothing else here: `nobody`, and one more. */
export const [nobody, other] = [65_534, 54_321]

/** Only root can give a file to another user. */
export const isRoot = process.geteuid?.() === 0

/** A folder that others may share, with stores in it that they or we have made, and a terminal. */
export class Stage {
  readonly terminal = new Terminal()
  readonly env = { XDG_STATE_HOME: join(this.terminal.folder, 'state') }

  constructor() {
    onTestFinished(() => this.terminal.remove())
  }

  /** A path in the folder of the terminal, which is made. */
  folder(path: string): string {
    const made = join(this.terminal.folder, path)
    mkdirSync(made, { recursive: true })
    return made
  }

  belfry(words: string | readonly string[], folder: string, env: Readonly<Record<string, string>> = {}): Promise<Said> {
    return this.terminal.belfry(words, { folder, env: { ...this.env, ...env } })
  }

  /** Makes a store with one run of a program that leaves a file behind. */
  async store(folder: string): Promise<string> {
    const words = ['run', 'enqueue', '--command', '--', '/bin/sh', '-c', `echo ran >> ${this.evidence}`]
    const { exit, stderr } = await this.belfry(words, folder)
    if (exit !== 0) throw new Error(stderr)
    return join(folder, '.belfry', 'belfry.db')
  }

  get evidence(): string {
    return join(this.terminal.folder, 'ran')
  }

  /** How often the program of a store was started. */
  get ran(): number {
    return existsSync(this.evidence) ? readFileSync(this.evidence, 'utf8').split('\n').length - 1 : 0
  }
}

/** Gives a folder and all that is in it to another user. */
export function giveAway(path: string, user: number): void {
  execFileSync('chown', ['-R', String(user), path])
}

export function giveOne(path: string, user: number): void {
  chownSync(path, user, -1)
}

export function git(folder: string, ...words: string[]): string {
  const own = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  return execFileSync('git', [...own, ...words], { cwd: folder, stdio: 'pipe', encoding: 'utf8' })
}

/** A store as an earlier version left it, or with a mark that somebody wrote. */
export function editStore(file: string, sql: string): void {
  const handle = new DatabaseSync(file)
  handle.exec(sql)
  handle.close()
}

export function copyOf(from: string, to: string): string {
  cpSync(from, to, { recursive: true })
  return to
}
