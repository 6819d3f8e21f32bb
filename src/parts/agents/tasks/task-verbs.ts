import { z } from 'zod'
import { settingsInForce } from '../../../core/setting.ts'
import { limit, limitDefault } from '../../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { refusal } from '../../../operations/input/refuse-input.ts'
import { behindLast } from '../../../operations/next-page.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import {
  pause as pauseOfSchedule,
  resume as resumeOfSchedule,
  run as runOfSchedule,
} from '../../../operations/schedule/schedule-control.ts'
import { text } from '../../../operations/schema/output-schema.ts'
import { deleted } from '../../../operations/show.ts'
import { settingsNow } from '../../../store/settings/settings-row.ts'
import { projectRoot } from '../inbox/project-root.ts'
import { deleteTask } from './delete-task.ts'
import { exportTasks } from './export-tasks.ts'
import { ownAndKept, presentTask } from './present-task.ts'
import { durableOff } from './put-task.ts'
import { type Task, taskOf, taskSchema } from './task-answer.ts'
import { taskId } from './task-input.ts'
import { taskShown, tasksShown } from './task-show.ts'
import { create, edit, loop } from './task-writes.ts'

const reading = { noun: 'task', effect: 'read', scope: 'read', doors: everyDoor, method: 'GET' } as const
/** A task is a schedule, so models steer tasks with their tools for schedules. */
const notModels: Doors = { ...everyDoor, mcp: 'Models steer the schedule of a task, by its name.' }

const steering = {
  noun: 'task',
  effect: 'write',
  scope: 'operate',
  takes: ['id'],
  errors: ['invalid', 'not-found', 'conflict'],
  doors: notModels,
} as const

const list = operation({
  ...reading,
  verb: 'list',
  says: 'List the tasks that have not finished, in the order in which they were made.',
  request: 'a list of tasks',
  input: z.strictObject({
    all: z.boolean().describe('Also list those that have finished. Default: false.').optional(),
    here: z.boolean().describe('Only those of the project of this folder. Default: false.').optional(),
    after: z.string().describe('The last id of the previous page.').optional(),
    limit: limit.optional(),
  }),
  takes: [],
  output: z.array(taskSchema),
  show: tasksShown,
  errors: ['invalid'],
  examples: [{}, { all: true, limit: 20 }],
  nextPage: behindLast<Task>(({ id }) => ({ after: id })),
  async run(context, { here = false, limit: most = limitDefault, ...page }) {
    const project = here ? { project: projectRoot(context.folder) } : {}
    return (await ownAndKept(context, { limit: most, ...onlyGiven(page), ...project })).map(taskOf)
  },
})

const get = operation({
  ...reading,
  verb: 'get',
  command: ['task', 'show'],
  says: 'Show a task: its prompt, timing, project, author and expiry.',
  request: 'a request for a task',
  input: z.strictObject({ id: taskId }),
  takes: ['id'],
  output: taskSchema,
  show: taskShown,
  errors: ['invalid', 'not-found'],
  examples: [{ id: '3f9c01ab' }],
  run: async (context, { id }) => taskOf(await presentTask(context, id)),
})

const remove = operation({
  ...steering,
  verb: 'delete',
  method: 'DELETE',
  effect: 'destructive',
  idempotent: true,
  asksFirst: true,
  rehearses: true,
  says: 'Delete a task and free its name; a run at work finishes unless cancelLeased is given.',
  request: 'a deletion of a task',
  input: z.strictObject({
    id: taskId,
    cancelLeased: z.boolean().describe('Cancel its running run too. Default: false.').optional(),
  }),
  output: z.strictObject({ id: text('The id of the task.'), deleted: z.literal(true).describe('Always true.') }),
  show: ({ id }, sheet) => deleted(`task ${id}`, sheet),
  examples: [{ id: '3f9c01ab' }],
  async run(context, { id, cancelLeased = false }) {
    const { spec, id: schedule, home } = await presentTask(context, id)
    const { store, actor, waits } = home
    await store.do(deleteTask, { name: spec.name, schedule }, { cancelLeased, actor })
    waits.lookAtAll()
    return { id: spec.task?.id ?? id, deleted: true as const }
  },
})

const pause = operation({
  ...steering,
  verb: 'pause',
  idempotent: true,
  says: 'Pause a task for a time, until an instant, or until it is resumed; a run at work finishes.',
  request: 'a pause of a task',
  input: pauseOfSchedule.input.omit({ name: true }).extend({ id: taskId }),
  output: taskSchema,
  show: ({ id, pausedUntil, zone }, sheet) => {
    const until = pausedUntil === null ? '' : ` until ${sheet.inZone(zone).stamp(pausedUntil)}`
    return `paused task ${id}${until}; resume it: ${sheet.command('task', 'resume', id)}`
  },
  examples: [{ id: '3f9c01ab' }, { id: '3f9c01ab', for: '2d', reason: 'Holidays.' }],
  async judge(context, { given, value, problems }) {
    if (value.id === undefined) throw refusal('The pause of a task', problems)
    const { id, ...how } = given as { readonly id: string }
    const { name, home } = await nameOf(context, id)
    await pauseOfSchedule.call(home, { ...how, name })
    return taskOf(await presentTask(context, id))
  },
})

const resume = operation({
  ...steering,
  verb: 'resume',
  idempotent: true,
  says: 'End every pause of a task; occurrences that passed meanwhile are not run.',
  request: 'a resumption of a task',
  input: z.strictObject({ id: taskId }),
  output: taskSchema,
  show: ({ id }) => `resumed task ${id}`,
  examples: [{ id: '3f9c01ab' }],
  async run(context, { id }) {
    const { name, home } = await nameOf(context, id)
    await resumeOfSchedule.call(home, { name })
    return taskOf(await presentTask(context, id))
  },
})

const run = operation({
  ...steering,
  verb: 'run',
  errors: [...steering.errors, 'quota'],
  says: 'Run a task once now, beside its timing.',
  request: 'a run of a task',
  input: z.strictObject({
    id: taskId,
    force: z.boolean().describe('Create the run although another has not ended. Default: false.').optional(),
  }),
  output: runOfSchedule.output,
  show: ({ id }, { command }) => `created ${id}\n  follow it: ${command('run', 'output', '-f', id)}`,
  examples: [{ id: '3f9c01ab' }],
  async run(context, { id, ...how }) {
    const { name, home } = await nameOf(context, id)
    if (!settingsInForce(await home.store.look(settingsNow)).durable) throw durableOff()
    return runOfSchedule.call(home, { ...onlyGiven(how), name })
  },
})

async function nameOf(
  context: OperationContext,
  id: string,
): Promise<{ readonly name: string; readonly home: OperationContext }> {
  const { spec, id: schedule, deletedAt, home } = await presentTask(context, id)
  return { name: deletedAt === null ? spec.name : schedule, home }
}

/** The verbs of a task. An editor shows these comments at `belfry.tasks`; a test compares them with what the verb says. */
export const taskOperations = {
  /** Create a task: a prompt for an agent, at an instant or again and again. */
  create,
  /** Give an agent the same prompt again and again, at once and then every so often, until a guard says yes. */
  loop,
  /** List the tasks that have not finished, in the order in which they were made. */
  list,
  /** Show a task: its prompt, timing, project, author and expiry. */
  get,
  /** Change a task: null removes a field, and a new timing replaces the old one. */
  edit,
  /** Delete a task and free its name; a run at work finishes unless cancelLeased is given. */
  delete: remove,
  /** Pause a task for a time, until an instant, or until it is resumed; a run at work finishes. */
  pause,
  /** End every pause of a task; occurrences that passed meanwhile are not run. */
  resume,
  /** Run a task once now, beside its timing. */
  run,
  /** Print the unfinished tasks of this project as a config file. */
  export: exportTasks,
}
