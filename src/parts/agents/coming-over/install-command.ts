import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { BelfryError } from '../../../core/error.ts'
import type { CommandContext, Flags } from '../../../doors/cli/part.ts'
import { refuseServer, type ServerFlags } from '../../../doors/cli/session/named-server.ts'
import { destinationOf, openFor } from '../../../doors/cli/session/open-session.ts'
import { isColoured, paintOf, printable } from '../../../doors/cli/show/terminal-sheet.ts'
import { spelled, withoutPassword } from '../../../doors/cli/spelling/spelling.ts'
import type { Session, World } from '../../../doors/cli/world.ts'
import { exitOk } from '../../../operations/error-codes.ts'
import type { AnyOperation } from '../../../operations/operation.ts'
import { rehearsed } from '../../../operations/show.ts'
import { mayHaveComeWithTree } from '../../../trust/tracked.ts'
import { projectRoot } from '../inbox/project-root.ts'
import { taskOperations } from '../tasks/task-verbs.ts'
import { type AgentName, agentNames, type Edit, editsFor, type Start } from './agent-settings.ts'
import { claudeTasks } from './claude-tasks.ts'
import { claudeFileNear, importClaude } from './import-claude.ts'
import { hashOf, InstallRecord, undone } from './installed.ts'
import { readPlain, replacePlain } from './plain-file.ts'

interface Asked {
  readonly agent: AgentName
  readonly root: string
  readonly isRehearsal: boolean
  readonly flags: Flags
  readonly world: World
}

/** Adds Belfry's MCP server and Stop hook to the settings of an agent, and imports its tasks. */
export async function install(flags: Flags, { world, isJudged }: CommandContext): Promise<number> {
  const asked = read('install', flags, world)
  const edits = editsFor(asked.agent, asked.root, startOf(flags, world))
  const record = new InstallRecord(asked.root)
  const known = record.of(asked.agent)
  if (isJudged) return exitOk
  const { tasks, notes } = await importTasks(asked)
  const fresh = edits.filter(({ put }) => put !== null)
  if (!asked.isRehearsal && (fresh.length > 0 || tasks.length > 0)) {
    const files = fresh.map(({ path, what, before, after, put }) => ({
      path: relative(asked.root, path),
      what,
      before,
      after: hashOf(after as string),
      put: put as NonNullable<Edit['put']>,
    }))
    // The record is written first: an interrupted install can be undone, or completed by a second one.
    record.set(asked.agent, { files: [...known.files, ...files], tasks: [...new Set([...known.tasks, ...tasks])] })
    for (const { path, before, after } of fresh) replacePlain(path, before, after)
  }
  const lines = edits.map(
    ({ path, what, put }) => `${put === null ? 'has' : 'put'}\t${relative(asked.root, path)}\t${what}`,
  )
  const isNothing = fresh.length === 0 && tasks.length === 0
  if (asked.agent === 'codex' && fresh.length > 0)
    notes.push('Codex asks you to trust the project and its hook: /hooks')
  tell(asked, {
    did: 'installed',
    lines,
    notes: isNothing ? ['Nothing was changed: it is installed.', ...notes] : notes,
  })
  return exitOk
}

/** Removes exactly what `install` added. A piece that was changed since stays, and is named. */
export async function uninstall(flags: Flags, { world, isJudged }: CommandContext): Promise<number> {
  const asked = read('uninstall', flags, world)
  const record = new InstallRecord(asked.root)
  const { files, tasks } = record.of(asked.agent)
  const undoings = files.map((file) => {
    const path = resolve(asked.root, file.path)
    const text = readPlain(path)
    return { file, path, text, after: undone({ ...file, path }, text) }
  })
  if (isJudged) return exitOk
  const removed = await deleteTasks(asked, tasks)
  if (!asked.isRehearsal) {
    for (const { path, text, after } of undoings) if (after !== undefined) takeOut(path, text, after)
    record.set(asked.agent, { files: [], tasks: [] })
  }
  const lines = undoings.map(
    ({ file, after }) => `${after === undefined ? 'kept' : 'took out'}\t${file.path}\t${file.what}`,
  )
  const changed = undoings.some(({ after }) => after === undefined)
  const isNothing = files.length === 0 && tasks.length === 0
  tell(asked, {
    did: 'uninstalled',
    lines: [...lines, ...removed],
    notes: [
      ...(isNothing ? ['Nothing was changed: install has done nothing here.'] : []),
      ...(changed ? ['What is kept was changed since it was installed: look at it yourself.'] : []),
    ],
  })
  return exitOk
}

/** If `install` created the file, its folder is removed too, unless the folder contains something else. */
function takeOut(path: string, text: string | null, after: string | null): void {
  replacePlain(path, text, after)
  if (after === null && readdirSync(dirname(path)).length === 0) rmdirSync(dirname(path))
}

function read(command: string, flags: Flags, world: World): Asked {
  const { file, dryRun } = flags
  const agent = agentNames.find((name) => name === file)
  if (agent === undefined) {
    const said =
      file === undefined ? 'No agent is named' : `${JSON.stringify(file)} is no agent that has settings for Belfry`
    throw new BelfryError('invalid', `${said} (expected: ${agentNames.join(' or ')}).`, {
      hint: `Name one: belfry ${command} claude`,
    })
  }
  refuseServer(command, 'It works on the files of this machine.', flags as ServerFlags, world)
  return { agent, root: projectRoot(world.folder), isRehearsal: dryRun === true, flags, world }
}

/** An agent starts its server and its hooks in folders of its own choice, so relative paths are made absolute. */
function startOf({ store, schema, namespace }: Flags, { own, folder }: World): Start {
  const whole = (word: string) =>
    /^\.{0,2}\//.test(word) || existsSync(resolve(folder, word)) ? resolve(folder, word) : word
  const [first = 'belfry', ...rest] = (own.match(/(?:'[^']*'|\\'|[^\s'])+/g) ?? []).map(unquoted)
  const named = typeof store === 'string' ? store.replace(/^sqlite:(?!\/)/, () => `sqlite:${folder}/`) : undefined
  if (named !== undefined && withoutPassword(named) !== named) {
    throw new BelfryError('invalid', 'The store has a password, which would stand in the settings of the agent.', {
      hint: 'Set BELFRY_STORE where the agent runs, and install without --store.',
    })
  }
  const flags = Object.entries({ store: named, schema, namespace })
  const naming = flags.flatMap(([name, value]) => (typeof value === 'string' ? [`--${name}`, value] : []))
  return {
    program: [
      first.includes('/') ? whole(first) : first,
      ...rest.map((word) => (first === 'node' ? whole(word) : word)),
    ],
    naming,
  }
}

function unquoted(word: string): string {
  return word.replace(/'([^']*)'|\\'/g, (_, inner?: string) => inner ?? "'")
}

/** Imports what Claude has scheduled. A file that came with the checkout may be a stranger's, so it is only named. */
async function importTasks({ agent, isRehearsal, flags, world }: Asked): Promise<{ tasks: string[]; notes: string[] }> {
  const file = claudeFileNear(world.folder)
  if (agent !== 'claude' || !existsSync(file)) return { tasks: [], notes: [] }
  if (await mayHaveComeWithTree(file)) {
    const says = `${file} may have come with the checkout: read its prompts, then belfry import claude`
    return { tasks: [], notes: [says] }
  }
  return onStore({ flags, world, operation: importClaude }, async (session) => {
    const { tasks, left, stillFires } = await session.call(importClaude, { path: file, partial: true }, { isRehearsal })
    const fresh = tasks.filter(({ answer }) => answer === 'created').map(({ id }) => id)
    const notes = [
      ...(fresh.length === 0
        ? []
        : [`${isRehearsal ? 'would import' : 'imported'} ${fresh.length} of Claude’s tasks: belfry task list`]),
      ...left.map(({ where, what, why }) => `left out ${where} (${what}): ${why}`),
      ...(stillFires === 0
        ? []
        : [`Claude still fires its own copy of ${stillFires}. Remove it there: belfry import claude --move`]),
    ]
    return { tasks: fresh, notes }
  })
}

/** Deletes the tasks that `install` imported, except those that were changed here and those that Claude no longer has. */
async function deleteTasks({ isRehearsal, flags, world }: Asked, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const operation = taskOperations.delete
  return onStore({ flags, world, operation }, async (session) => {
    const file = claudeFileNear(world.folder)
    const theirs = claudeTasks(file, readPlain(file) ?? '{"tasks":[]}', {
      now: await session.now(),
      zone: session.zone,
    })
    const told: string[] = []
    for (const id of ids) {
      const task = await session.call(taskOperations.get, { id }).catch(unlessGone)
      if (task === null) continue
      const isKept = task.version > 1 || !theirs.some((each) => `claude-${each.id}` === task.name)
      if (!isKept) await session.call(operation, { id }, { isRehearsal })
      told.push(`${isKept ? 'kept' : 'took out'}\ttask ${id}\t${task.name}`)
    }
    return told
  })
}

function unlessGone(error: unknown): null {
  if (error instanceof BelfryError && error.code === 'not-found') return null
  throw error
}

async function onStore<Answer>(
  { flags, world, operation }: { readonly flags: Flags; readonly world: World; readonly operation: AnyOperation },
  act: (session: Session) => Promise<Answer>,
): Promise<Answer> {
  const session = await openFor({ operation, where: destinationOf(flags, world), options: flags }, world)
  try {
    return await act(session)
  } finally {
    await session.close()
  }
}

interface Told {
  readonly did: string
  readonly lines: readonly string[]
  readonly notes: readonly string[]
}

function tell({ agent, root, isRehearsal, flags, world }: Asked, { did, lines, notes }: Told): void {
  const { stdout, env, own } = world
  const rows = lines.map((line) => line.split('\t') as [string, string, string])
  if (flags.json === true) {
    const files = rows.map(([answer, where, what]) => ({ answer, where, what }))
    stdout.write(`${JSON.stringify({ agent, project: root, files, notes }, null, 2)}\n`)
    return
  }
  const paint = paintOf(isColoured(stdout, env))
  const width = Math.max(0, ...rows.map(([, where]) => where.length))
  const shown = rows.map(([answer, where, what]) => `  ${answer.padEnd(8)}  ${where.padEnd(width)}  ${what}`)
  const head = `${isRehearsal ? `would have ${did}` : did} ${paint.bold(agent)} in ${root}${isRehearsal ? ` ${rehearsed}` : ''}`
  stdout.write(`${printable([head, ...shown, ...notes.map((note) => spelled(note, own, flags))].join('\n'))}\n`)
}
