import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { Belfry, type OpenOptions } from '../../../src/index.ts'
import { socketPath } from '../../../src/parts/agents/terminal/tmux.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { isRunning } from '../../targets/command/processes.ts'

const standIns = fileURLToPath(new URL('../../stand-ins/', import.meta.url))
export const standIn = (agent: string) => join(standIns, `agent-${agent}`)

const shortened = { linger: '100ms', killAfter: '300ms', stall: { start: '500ms', silence: '100ms' } }
/** The shipped profiles with stand-ins for their programs. The timeouts are short, except for starts, which a busy machine makes slow. */
export const agents = {
  claude: { program: standIn('claude'), ...shortened, stall: { start: '60s', silence: '100ms' } },
  codex: { program: standIn('codex'), linger: '100ms' },
  gemini: { program: standIn('gemini') },
  opencode: { program: standIn('opencode') },
  aider: { program: standIn('aider') },
  script: { program: standIn('script') },
  hasty: { extends: 'claude', program: standIn('claude'), ...shortened },
  asking: { extends: 'claude', program: standIn('claude'), prompt: 'argument', terminal: 'tmux', killAfter: '300ms' },
  absent: { extends: 'claude', program: '/nowhere/claude' },
}

/** The record that a stand-in wrote when it was started. */
export interface Started {
  readonly agent: string
  readonly args: readonly string[]
  readonly input: string
  readonly pid: number
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
}

export interface Scene {
  readonly belfry: Belfry
  readonly folder: string
  readonly open: (options?: OpenOptions) => Promise<Belfry>
  /** A target for a stand-in with this behaviour. */
  target(
    profile: string,
    behaviour?: string,
    more?: object,
  ): { agent: { profile: string; prompt: string }; env: Record<string, string> }
  starts(): Started[]
  /** The grandchildren that stand-ins started. */
  children(): number[]
}

export type StoreKind = 'SQLite' | 'PostgreSQL'

/** A store with profiles for the stand-ins. */
export async function playAgents(options: OpenOptions = {}, kind: StoreKind = 'SQLite'): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-agents-'))
  const log = join(folder, 'starts')
  const schema = kind === 'PostgreSQL' ? lendSchema() : undefined
  const store =
    schema === undefined ? { store: `sqlite:${join(folder, 'belfry.db')}` } : { store: postgresUrl(), schema }
  const opened: Belfry[] = []
  const open = async (more: OpenOptions = {}) => {
    const belfry = await Belfry.open({ log: false, allowNonDurable: true, ...store, ...options, ...more })
    opened.push(belfry)
    return belfry
  }
  onTestFinished(async () => {
    for (const belfry of opened) {
      await belfry.stop({ graceMs: 0 })
      await belfry.close()
    }
    for (const pid of noted(log).flatMap((each) => [each.pid ?? [], each.child ?? []].flat())) {
      if (isRunning(pid)) process.kill(pid, 'SIGKILL')
    }
    closeTerminals(join(folder, 'belfry.db'))
    if (schema !== undefined) await returnSchema(schema)
    rmSync(folder, { recursive: true })
  })
  const belfry = await open()
  await belfry.config.apply({ source: 'test', agents })
  return {
    belfry,
    folder,
    open,
    target: (profile, behaviour = '', more = {}) => ({
      agent: { profile, prompt: 'Is the deploy healthy?', ...more },
      env: { STAND_IN: behaviour, STAND_IN_LOG: log },
    }),
    starts: () => noted(log).filter((each): each is Started => each.pid !== undefined),
    children: () => noted(log).flatMap(({ child }) => child ?? []),
  }
}

/** The tmux server for the terminals of a store. */
export const terminalsOf = (place: string) => socketPath({ place, namespace: 'default' })

function closeTerminals(place: string): void {
  const socket = terminalsOf(place)
  if (!existsSync(socket)) return
  spawnSync('tmux', ['-S', socket, 'kill-server'])
  rmSync(socket, { force: true })
}

function noted(log: string): (Partial<Started> & { readonly child?: number })[] {
  if (!existsSync(log)) return []
  return readFileSync(log, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
}
