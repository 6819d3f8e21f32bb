import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { BelfryError } from '../core/error.ts'
import type { ConfigFile } from './file.ts'
import { programsIn } from './programs.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What somebody on this machine has vouched for. It is kept with his own things and neither in the store, which others
 * write, nor beside the file, which came with it: a tree that is checked out must not be able to vouch for itself.
 */
export class Trust {
  readonly #list: string

  constructor({ XDG_STATE_HOME: state = '', HOME: home = '' }: Environment) {
    // What is relative would begin in the folder we are in, which may be the tree itself.
    const own = () => (isAbsolute(home) ? home : userInfo().homedir)
    const folder = isAbsolute(state) ? state : join(own(), '.local', 'state')
    this.#list = join(folder, 'belfry', 'trusted')
  }

  /** Where it is kept. */
  get place(): string {
    return this.#list
  }

  /** The content and its place: relative programs of the same text mean others elsewhere. */
  has({ path, hash }: Pick<ConfigFile, 'path' | 'hash'>): boolean {
    return this.#lines().includes(lineOf({ path, hash }))
  }

  /** Vouches for what the file says now, and no longer for what it said before. */
  give({ path, hash }: Pick<ConfigFile, 'path' | 'hash'>): void {
    if (path.includes('\n')) {
      // Its second line would vouch for whatever file it names.
      throw new BelfryError('invalid', `${JSON.stringify(path)} has a line break in its name.`, {
        hint: 'Rename it, or what it lies in.',
      })
    }
    const others = this.#lines().filter((line) => !line.endsWith(` ${path}`))
    mkdirSync(dirname(this.#list), { recursive: true, mode: 0o700 })
    const fresh = `${this.#list}.${process.pid}`
    writeFileSync(fresh, `${[...others, lineOf({ path, hash })].join('\n')}\n`, { mode: 0o600 })
    renameSync(fresh, this.#list)
  }

  #lines(): string[] {
    if (!existsSync(this.#list)) return []
    return readFileSync(this.#list, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  }
}

function lineOf({ path, hash }: Pick<ConfigFile, 'path' | 'hash'>): string {
  return `${hash} ${path}`
}

const treeMarks = ['.git', '.hg', '.svn', '.jj']

/**
 * The tree that a file was checked out with, if it lies in one: others may have written it. It lies where it is named and
 * where links lead to, and whoever writes to either decides what it says.
 */
export function treeOf(path: string): string | null {
  const named = resolve(path)
  return treeAbove(named) ?? (existsSync(named) ? treeAbove(realpathSync(named)) : null)
}

function treeAbove(path: string): string | null {
  for (let here = dirname(path); ; here = dirname(here)) {
    if (treeMarks.some((mark) => existsSync(join(here, mark)))) return here
    if (dirname(here) === here) return null
  }
}

/** Refuses to start what came with a checked-out tree, before somebody here has looked at it. */
export function refuseUntrusted(file: ConfigFile, trust: Trust): void {
  const tree = treeOf(file.path)
  const programs = programsIn(file.document)
  if (tree === null || programs.length === 0 || trust.has(file)) return
  const first = programs[0]?.where
  const more = programs.length === 1 ? '' : ` and ${programs.length - 1} more`
  const message = `${file.path} lies in the checked-out tree ${tree} and would start programs, use secrets or open doors (${first}${more}).`
  throw new BelfryError('not-allowed', `${message} Nobody here has vouched for what it says now.`, {
    hint: 'Look at it, then: belfry trust',
    details: { file: file.path, tree, programs: programs.slice(0, 20) },
  })
}
