import { basename, relative } from 'node:path'
import { z } from 'zod'
import { isoText } from '../../../operations/input/instant.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import { definitionOf } from '../../../operations/schedule/schedule-answer.ts'
import { text } from '../../../operations/schema/output-schema.ts'
import type { ScheduleView } from '../../../store/views.ts'
import { type AgentTarget, checkoutKey } from '../agent-target.ts'
import { projectRoot } from '../inbox/project-root.ts'
import { tasksQueue } from './task-input.ts'
import { listTasks } from './task-rows.ts'

const tasksMax = 1_000

const doors: Doors = {
  ...everyDoor,
  http: 'It is about the folder of the caller: list tasks instead.',
  mcp: 'A file of tasks is for a person, who trusts it.',
}

export const exportTasks = operation({
  noun: 'task',
  verb: 'export',
  method: 'GET',
  says: 'Print the unfinished tasks of this project as a config file.',
  request: 'an export of tasks',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    all: z.boolean().describe('The tasks of all projects. Default: false.').optional(),
  }),
  takes: [],
  output: z.strictObject({
    source: text('The name of the source: the file manages the tasks that it names.'),
    tasks: z.record(z.string(), z.unknown()).describe('The tasks by name, each with the fields of task create.'),
  }),
  show: (file) => JSON.stringify(file, null, 2),
  errors: ['invalid'],
  doors,
  examples: [{}],
  async run({ store, folder }, { all = false }) {
    const project = projectRoot(folder)
    const found = await store.look(listTasks, { limit: tasksMax, ...(!all && { project }) })
    return {
      source: `tasks:${all ? 'all' : basename(project)}`,
      tasks: Object.fromEntries(found.map((task) => [task.spec.name, saidOf(task, project)])),
    }
  },
})

/** The fields as `task create` takes them. Paths in the project are relative to its root, so that the file works elsewhere. */
function saidOf({ spec }: ScheduleView, project: string): object {
  const { name: _, target, queue, tags = [], at, startAt, endAt, concurrencyKey, ...rest } = definitionOf(spec)
  const { agent, cwd, env } = target as unknown as AgentTarget
  const { profile, output: __, promptFile, ...called } = agent
  const own = tags.filter((tag) => !tag.startsWith('project:'))
  const instants = { at, startAt, endAt, expiresAt: spec.task?.expiresAt }
  const within = (path: string) => (relative(project, path).startsWith('..') ? path : relative(project, path))
  return {
    agent: profile,
    ...called,
    ...(promptFile !== undefined && { promptFile: within(promptFile) }),
    ...(cwd !== undefined && cwd !== project && { cwd: within(cwd) }),
    ...(env !== undefined && { env }),
    ...rest,
    ...Object.fromEntries(
      Object.entries(instants).flatMap(([key, ms]) => (ms === undefined ? [] : [[key, isoText(ms)]])),
    ),
    ...(concurrencyKey !== checkoutKey(target as unknown as AgentTarget, undefined) && { concurrencyKey }),
    ...(queue !== tasksQueue && { queue }),
    ...(own.length > 0 && { tags: own }),
    ...(spec.spread === undefined && { exact: true }),
  }
}
