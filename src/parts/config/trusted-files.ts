import { join } from 'node:path'
import { BelfryError } from '../../core/error.ts'
import { belfryCommand } from '../../operations/shell-words.ts'
import { LineFile, refuseLineBreak } from '../../trust/line-file.ts'
import { type Environment, stateFolder } from '../../trust/state-folder.ts'
import { strangersOfFile } from '../../trust/strangers.ts'
import { treeOf } from '../../trust/tree.ts'
import type { ConfigFile } from './config-file.ts'
import { type Known, type Program, type Programs, programsOf } from './programs.ts'

/** How many contents of a file stay trusted, so that going back needs no new trust. */
const contentsMax = 20

type Trusted = Pick<ConfigFile, 'path' | 'document'>

/** What this user trusts on this machine. It is stored among the user's own files, neither in the store, which others write, nor beside the file, which came with it: a checked-out tree must not be able to trust itself. */
export class Trust {
  readonly #list: LineFile
  /** What each file started when it was last trusted, to show what is new. It is for display only. */
  readonly #last: LineFile
  readonly #found: string | null
  readonly #known: Known

  /** `found`: Belfry found the file in a default place; otherwise the caller named it. */
  constructor(env: Environment, { found = null, ...known }: Known & { readonly found?: string | null }) {
    this.#known = known
    this.#list = new LineFile(join(stateFolder(env), 'trusted'))
    this.#last = new LineFile(join(stateFolder(env), 'trusted-last'))
    this.#found = found
  }

  get place(): string {
    return this.#list.path
  }

  programs({ document }: Pick<Trusted, 'document'>): Programs {
    return programsOf(document, this.#known)
  }

  /** Whether the programs of the file are trusted at its path: in another folder the same text names other programs. */
  has(file: Trusted): boolean {
    return this.#list.read().includes(this.#lineOf(file))
  }

  /** Why other people may have written the file, as a clause after its name; `null` when only this user and root could. */
  reasonToAsk({ path }: Trusted): string | null {
    const tree = treeOf(path)
    if (tree !== null) return `is in the checked-out tree ${tree}`
    const [stranger] = path === this.#found ? strangersOfFile(path) : []
    if (stranger === undefined) return null
    const by =
      stranger.user === null ? 'can be written by every user of this machine' : `belongs to user ${stranger.user}`
    return stranger.path === path ? by : `is in ${stranger.path}, which ${by},`
  }

  /** Trusts the programs that the file names now, in addition to earlier ones. */
  give(file: Trusted): void {
    refuseLineBreak(file.path)
    const line = this.#lineOf(file)
    const lines = this.#list.read().filter((each) => each !== line)
    const before = lines.filter((each) => pathIn(each) === file.path)
    const forgotten = new Set(before.slice(0, Math.max(0, before.length + 1 - contentsMax)))
    this.#list.write([...lines.filter((each) => !forgotten.has(each)), line])
    const others = this.#last.read().filter((each) => pathIn(each) !== file.path)
    this.#last.write([...others, `${this.programs(file).hashes.join(',')} ${file.path}`])
  }

  /** The programs that are new since the file was last trusted; all when that is not known. */
  changed(file: Trusted): readonly Program[] {
    const { programs, hashes } = this.programs(file)
    const line = this.#last.read().find((each) => pathIn(each) === file.path)
    const before = new Set(line?.slice(0, line.indexOf(' ')).split(','))
    const fresh = programs.filter((_, index) => !before.has(hashes[index] as string))
    return fresh.length === 0 ? programs : fresh
  }

  #lineOf(file: Trusted): string {
    return `${this.programs(file).hash} ${file.path}`
  }
}

function pathIn(line: string): string {
  return line.slice(line.indexOf(' ') + 1)
}

/** Whether the file may start what it names: only this user could have written it, it starts nothing, or it is trusted. */
export function isTrusted(file: ConfigFile, trust: Trust): boolean {
  return trust.reasonToAsk(file) === null || trust.programs(file).programs.length === 0 || trust.has(file)
}

/** Refuses to start programs that other people may have written, until this user has trusted them. */
export function refuseUntrusted(file: ConfigFile, trust: Trust): void {
  if (isTrusted(file, trust)) return
  const programs = trust.changed(file)
  const first = programs[0]?.where
  const more = programs.length === 1 ? '' : ` and ${programs.length - 1} more`
  const would = `would start programs, use secrets or open doors (${first}${more})`
  const message = `${file.path} ${trust.reasonToAsk(file)} and ${would}. You have not trusted its current content.`
  throw new BelfryError('not-allowed', message, {
    hint: `Read it, then run: \`${belfryCommand('trust', file.path)}\``,
    details: {
      file: file.path,
      tree: treeOf(file.path),
      programs: programs.slice(0, 20).map(({ where, what }) => ({ where, what })),
    },
  })
}
