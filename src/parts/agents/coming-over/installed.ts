import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { withoutEntry } from '../../../core/json/json-edit.ts'
import { canonicalJson } from '../../../store/check.ts'
import type { AgentName, Put } from './agent-settings.ts'
import { objectIn, readPlain, replacePlain } from './plain-file.ts'

/** What `install` did to a file: the piece that it added, the text before, and a hash of the text after. */
export interface InstalledFile {
  readonly path: string
  readonly what: string
  readonly before: string | null
  readonly after: string
  readonly put: Put
}

export interface Installed {
  readonly files: readonly InstalledFile[]
  /** The ids of the tasks that were imported. */
  readonly tasks: readonly string[]
}

type Records = { readonly [Agent in AgentName]?: Installed }

export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** The record of what `install` did in a project; `uninstall` undoes exactly that. */
export class InstallRecord {
  readonly path: string

  constructor(root: string) {
    this.path = join(root, '.belfry', 'installed.json')
  }

  of(agent: AgentName): Installed {
    return this.#all()[agent] ?? { files: [], tasks: [] }
  }

  /** Records what is installed for an agent. An agent without anything installed is left out, and an empty record is removed. */
  set(agent: AgentName, installed: Installed): void {
    const { [agent]: _, ...others } = this.#all()
    const isNone = installed.files.length === 0 && installed.tasks.length === 0
    const whole = { ...others, ...(!isNone && { [agent]: installed }) }
    const before = readPlain(this.path)
    if (Object.keys(whole).length > 0) replacePlain(this.path, before, `${JSON.stringify(whole, null, 2)}\n`, 0o600)
    else if (before !== null) replacePlain(this.path, before, null)
  }

  #all(): Records {
    const text = readPlain(this.path)
    return text === null ? {} : (objectIn(this.path, text) as Records)
  }
}

/**
 * The text of a file without the piece that `install` added. If the file has not changed since, it is the original text, byte for byte.
 * `undefined`: the piece is no longer there.
 */
export function undone({ path, before, after, put }: InstalledFile, text: string | null): string | null | undefined {
  if (text === null) return undefined
  if (hashOf(text) === after) return before
  if ('block' in put) return text.includes(put.block) ? text.replace(put.block, () => '') : undefined
  const outer = put.at.slice(0, -1)
  const last = put.at.at(-1) as string
  const container = outer.reduce<unknown>((value, step) => (value as never)?.[step], objectIn(path, text))
  const own = canonicalJson(put.value)
  const isOwn = (value: unknown) => value !== undefined && canonicalJson(value) === own
  const step = last === '-' ? (Array.isArray(container) ? container.findIndex(isOwn) : -1) : last
  if (step === -1 || !isOwn((container as never)?.[step])) return undefined
  return withoutEntry(text, [...outer, step])
}
