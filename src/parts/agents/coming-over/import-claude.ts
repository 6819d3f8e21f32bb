import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { BelfryError } from '../../../core/error.ts'
import { withoutEntry } from '../../../core/json/json-edit.ts'
import { withAdded } from '../../../operations/fields/added-fields.ts'
import { zone } from '../../../operations/fields/basic-fields.ts'
import { read } from '../../../operations/input/read-input.ts'
import { operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { kindsInStore } from '../../../operations/target/kinds-in-store.ts'
import { canonicalJson } from '../../../store/check.ts'
import { clockNow } from '../../../store/statement.ts'
import { projectRoot } from '../inbox/project-root.ts'
import { taskFrom } from '../tasks/read-task.ts'
import { agentDefault, taskInput } from '../tasks/task-input.ts'
import { type BroughtTask, bringTasks } from './bring-tasks.ts'
import { claudeImported, type LeftOut } from './claude-imported.ts'
import { type ClaudeTask, claudeFile, claudeTasks } from './claude-tasks.ts'
import { objectIn, readPlain, replacePlain } from './plain-file.ts'

export const importClaude = operation({
  noun: 'store',
  verb: 'importClaude',
  begins: true,
  isOk: ({ ok }) => ok,
  command: ['import', 'claude'],
  says: 'Import the scheduled tasks of Claude Code as tasks.',
  request: 'an import of tasks',
  effect: 'write',
  scope: 'admin',
  persons: true,
  rehearses: true,
  input: z.strictObject({
    path: z.string().min(1).describe(`The file with the tasks. Default: ${claudeFile} of this project.`).optional(),
    move: z
      .boolean()
      .describe('Remove from the file what was brought over, so that Claude does not fire it too. Default: false.')
      .optional(),
    zone: zone.describe('The IANA time zone of the crons. Default: the time zone of the caller.').optional(),
    partial: z
      .boolean()
      .describe('Allow leaving something out. Without it the command exits with 1 then. Default: false.')
      .optional(),
  }),
  takes: [],
  output: claudeImported,
  errors: ['invalid', 'not-found', 'conflict', 'quota'],
  doors: {
    library: true,
    cli: true,
    http: 'It reads and changes a file of the caller’s machine.',
    mcp: 'The file has prompts, so only a person may import it.',
  },
  show: { load: async () => (await import('./coming-over-show.ts')).showClaudeImported },
  examples: [{ path: claudeFile }, { path: claudeFile, move: true, zone: 'Europe/Paris' }],
  async run(context, { path: given, move = false, partial = false, zone: wanted }) {
    const path = given === undefined ? claudeFileNear(context.folder) : resolve(context.folder, given)
    const text = readPlain(path)
    if (text === null) throw noFile(path)
    const moment = { now: await context.store.look(clockNow), zone: wanted ?? context.zone }
    const found = claudeTasks(path, text, moment)
    const { tasks, left } = await readAll(context, found, { ...moment, folder: folderOf(path) })
    const brought = await context.store.do(
      bringTasks,
      tasks.map(({ task }) => task),
      { actor: context.actor },
    )
    const whole = tasks.map(({ from, task }, index) => ({
      from,
      task,
      ...(brought[index] as (typeof brought)[number]),
    }))
    const own = whole.filter(({ isOther }) => !isOther).map(({ from }) => from)
    // Removed only after the commit: a crash in between leaves a task in both places, never in neither.
    const entries = found.filter(({ from }) => own.includes(from)).map(({ entry }) => entry)
    if (move && !context.store.isRehearsal) removeFrom(path, entries)
    return {
      file: path,
      tasks: whole.map(({ id, answer, from, task: { spec } }) => ({
        id,
        name: spec.name,
        from,
        answer,
        prompt: promptOf(spec),
      })),
      left,
      different: [
        ...differences(found, left),
        ...whole.flatMap(({ isOther, from, task }) => (isOther ? [kept(from, task)] : [])),
      ],
      moved: move ? own.length : 0,
      stillFires: whole.length - (move ? own.length : 0),
      ok: left.length === 0 || partial,
    }
  },
})

function noFile(path: string): BelfryError {
  const hint = 'Claude has stored no tasks in this project, or the file is elsewhere: --path'
  return new BelfryError('not-found', `There is no file ${path}.`, { hint, details: { file: path } })
}

/** Claude's file in this folder, else in the root of its project. */
export function claudeFileNear(folder: string): string {
  const [near, root] = [folder, projectRoot(folder)].map((each) => join(each, claudeFile)) as [string, string]
  return existsSync(near) ? near : root
}

function folderOf(path: string): string {
  return basename(dirname(path)) === '.claude' ? dirname(dirname(path)) : dirname(path)
}

interface Place {
  readonly now: number
  readonly folder: string
}

interface ReadTasks {
  readonly tasks: { readonly from: string; readonly task: BroughtTask }[]
  readonly left: LeftOut[]
}

/**
 * Reads the tasks of the file as Belfry tasks, and the reason for each task that is left out. A task keeps Claude's id, and with it its
 * spread.
 */
async function readAll(context: OperationContext, found: readonly ClaudeTask[], place: Place): Promise<ReadTasks> {
  const kinds = await kindsInStore(context, [{ agent: agentDefault }])
  const schema = withAdded(taskInput, context.fields)
  const answer: ReadTasks = { tasks: [], left: [] }
  for (const { id, from, given } of found) {
    const name = `claude-${id}`
    const reading = read(schema, 'why' in given ? {} : { ...given, name }, 'a task')
    const { task, problems } = taskFrom({ ...context, kinds }, reading as never, place)
    const why = 'why' in given ? given.why : problems.map(({ field, problem }) => `${field} ${problem}`).join('; ')
    if (why !== '') {
      answer.left.push({ where: from, what: id, why: String(why) })
      continue
    }
    const ids = [...(/^[0-9a-f]{8}$/.test(id) ? [id] : []), ...Array.from({ length: 4 }, () => context.randomHex(4))]
    answer.tasks.push({ from, task: { ...task, ids, spec: { ...task.spec, name } } })
  }
  return answer
}

function promptOf({ target }: BroughtTask['spec']): string {
  return (target as unknown as { readonly agent: { readonly prompt: string } }).agent.prompt
}

function differences(found: readonly ClaudeTask[], left: readonly LeftOut[]): LeftOut[] {
  const taken = found.filter(({ from }) => !left.some(({ where }) => where === from))
  const strange = taken.flatMap(({ from, strange: fields }) =>
    fields.map((field) => ({ where: from, what: field, why: 'it has no meaning here' })),
  )
  if (taken.length === 0) return strange
  const why = 'Claude hands a prompt to the open session; Belfry starts an agent of its own for it'
  return [{ where: 'every task', what: 'where it runs', why }, ...strange]
}

function kept(from: string, { spec }: BroughtTask): LeftOut {
  return { where: from, what: spec.name, why: 'a task of this name says something else; it stays as it is here' }
}

/** Removes the entries that have not changed since they were read; Claude may have written the file meanwhile. */
function removeFrom(path: string, entries: readonly object[]): void {
  const before = readPlain(path)
  if (before === null) return
  const { tasks } = objectIn(path, before)
  const wanted = new Set(entries.map(canonicalJson))
  const indexes = (Array.isArray(tasks) ? tasks : []).flatMap((task, index) =>
    wanted.has(canonicalJson(task)) ? [index] : [],
  )
  const after = indexes.reverse().reduce((text, index) => withoutEntry(text, ['tasks', index], 1), before)
  if (after !== before) replacePlain(path, before, after)
}
