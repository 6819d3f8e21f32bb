import { join } from 'node:path'
import { type JsonStep, withEntry } from '../../../core/json/json-edit.ts'
import { isRecord } from '../../../core/json/record.ts'
import { shellWord } from '../../../operations/shell-words.ts'
import { objectIn, readPlain, unfit } from './plain-file.ts'
import { blockOf, serverIn } from './toml-block.ts'

export const agentNames = ['claude', 'codex'] as const
export type AgentName = (typeof agentNames)[number]

/** A piece that `install` adds to a file: an entry of a JSON file, or a block of text. */
export type Put = { readonly at: readonly JsonStep[]; readonly value: unknown } | { readonly block: string }

/** A file, its current text, and its text with the piece added. */
export interface Edit {
  readonly path: string
  /** The piece, described in words. */
  readonly what: string
  readonly before: string | null
  /** `null`: the file already has the piece, or the user's own entry in its place. */
  readonly put: Put | null
  readonly after: string | null
}

/** The command that starts Belfry from the settings of an agent, and the arguments that name the store. */
export interface Start {
  readonly program: readonly string[]
  readonly naming: readonly string[]
}

/** The edits that `install` makes in the files of a project. If one file cannot be edited, `install` refuses before it writes any. */
export function editsFor(agent: AgentName, root: string, { program, naming }: Start): Edit[] {
  const server = [...program, 'mcp', '--tools', 'tasks', ...naming]
  const hook = (...words: string[]) => [...program, 'hook', ...words, ...naming].map(shellWord).join(' ')
  const what = `MCP server belfry: ${server.map(shellWord).join(' ')}`
  if (agent === 'codex') {
    const hooks = [{ type: 'command', command: hook('codex') }]
    return [tomlEdit(join(root, '.codex/config.toml'), what, server), hookEdit(join(root, '.codex/hooks.json'), hooks)]
  }
  const [command, ...args] = server
  const rewake = { type: 'command', command: hook('claude-stop', '--rewake'), asyncRewake: true, timeout: 600 }
  return [
    memberEdit(join(root, '.mcp.json'), what, ['mcpServers', 'belfry'], { command, args }),
    hookEdit(join(root, '.claude/settings.json'), [{ type: 'command', command: hook('claude-stop') }, rewake]),
  ]
}

function memberEdit(path: string, what: string, at: readonly [string, string], value: unknown): Edit {
  const before = readPlain(path)
  const [outer, name] = at
  const servers = memberOf(path, before === null ? {} : objectIn(path, before), outer, isRecord, 'object')
  if (servers !== undefined && Object.hasOwn(servers, name)) return { path, what, before, put: null, after: null }
  return { path, what, before, put: { at, value }, after: added(before, at, value) }
}

/** A Stop hook, unless an existing hook already calls Belfry. */
function hookEdit(path: string, hooks: readonly { readonly type: string; readonly command: string }[]): Edit {
  const what = `Stop hook: ${hooks[0]?.command}`
  const before = readPlain(path)
  const events = memberOf(path, before === null ? {} : objectIn(path, before), 'hooks', isRecord, 'object')
  const groups = memberOf(path, events ?? {}, 'Stop', Array.isArray, 'list') ?? []
  const isThere = /belfry(\.js)?['"]? hook (claude-stop|codex)\b/.test(JSON.stringify(groups))
  if (isThere) return { path, what, before, put: null, after: null }
  const at = ['hooks', 'Stop', '-']
  const value = { hooks }
  return { path, what, before, put: { at, value }, after: added(before, at, value) }
}

function tomlEdit(path: string, what: string, server: readonly string[]): Edit {
  const before = readPlain(path)
  const text = before ?? ''
  if (serverIn(path, text) === 'there') return { path, what, before, put: null, after: null }
  const block = blockOf(text, server)
  return { path, what, before, put: { block }, after: text + block }
}

function added(before: string | null, at: readonly JsonStep[], value: unknown): string {
  return before === null ? `${withEntry('{}', at, value)}\n` : withEntry(before, at, value)
}

function memberOf<Value>(
  path: string,
  outer: Record<string, unknown>,
  name: string,
  isFit: (value: unknown) => value is Value,
  kind: string,
): Value | undefined {
  const value = outer[name]
  if (value === undefined || isFit(value)) return value
  throw unfit(path, `has ${name} that is no ${kind}`, `an ${kind}`.replace('an list', 'a list'))
}
