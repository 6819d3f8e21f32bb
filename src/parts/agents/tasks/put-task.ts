import { createHash } from 'node:crypto'
import { sameTaskMs, type TaskFacts, tasksOfProjectMax } from '../../../core/agent/task.ts'
import { BelfryError } from '../../../core/error.ts'
import { parseId } from '../../../core/id.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { settingsInForce } from '../../../core/setting.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { canonicalJson } from '../../../store/check.ts'
import { lockManaged } from '../../../store/managed.ts'
import type { PutAnswer } from '../../../store/port.ts'
import { putSchedule } from '../../../store/schedules/put-schedule.ts'
import { settingsNow } from '../../../store/settings/settings-row.ts'
import { clockNow, metOthers, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { freeId, insertTask, sameTask, unfinishedTasks } from './task-rows.ts'

/** A task that is asked for. Its id is chosen by the store. */
export interface NewTask {
  /** Without a name it is `task-` and its id. */
  readonly spec: Omit<ScheduleSpec, 'name' | 'task'> & { readonly name?: string | undefined }
  readonly facts: Omit<TaskFacts, 'id'>
  /** Prompt and timing as they were given. */
  readonly asked: unknown
  /** Random ids, of which the first free one is taken. */
  readonly ids: readonly string[]
}

export type TaskPut =
  | { readonly answer: 'created'; readonly id: string; readonly put: PutAnswer }
  /** The author has just asked for it in the same words. */
  | { readonly answer: 'unchanged'; readonly id: string }

/** Makes a task, unless its author has just made the same. Of two callers the second waits for the first, so that a project never has too many. */
export function* createTask(context: StoreContext, task: NewTask, { actor }: { readonly actor: Actor }): Step<TaskPut> {
  yield* lockManaged(context)
  const { spec, facts, ids } = task
  const { project, author, by, run } = facts
  const now = yield* clockNow()
  const askedAs = createHash('sha256').update(canonicalJson(task.asked)).digest('hex').slice(0, 32)
  const same = yield* sameTask(context, { project, author, askedAs }, now - sameTaskMs)
  if (same?.spec.task !== undefined) return { answer: 'unchanged', id: same.spec.task.id }
  if ((yield* unfinishedTasks(context, project)) >= tasksOfProjectMax) throw tooMany(project)
  const id = yield* freeId(context, ids)
  if (id === undefined) throw metOthers('Every id for the task was taken.')
  const { name = `task-${id}` } = spec
  const put = yield* putSchedule(context, { ...spec, name, task: { id, ...facts } }, { mode: 'create', actor })
  const scheduleId = parseId('schedule', put.schedule.id) as number
  const runId = run === undefined ? null : parseId('run', run)
  if (put.answer !== 'created') throw nameTaken(name)
  yield* insertTask(context, { scheduleId, id, project, author, askedAs, caller: by, runId, createdAt: now })
  return { answer: 'created', id, put }
}
createTask.rehearses = true as const

function tooMany(project: string): BelfryError {
  const message = `Project ${project} has ${tasksOfProjectMax} tasks that have not finished, and may not have more.`
  return new BelfryError('conflict', message, {
    hint: 'Delete one first: `belfry task list`, `belfry task delete`.',
    details: { reason: 'project-full', project, max: tasksOfProjectMax },
  })
}

function nameTaken(name: string): BelfryError {
  return new BelfryError('conflict', `A schedule is named ${name}.`, {
    hint: 'Choose another name, or give none.',
    details: { schedule: name },
  })
}

/** Refuses to write a task while durable tasks are off. Called in every transaction that writes a schedule. */
export function* refuseDurable(context: StoreContext, said: object): Step<void> {
  if ((said as Partial<ScheduleSpec>).task === undefined) return
  if (!settingsInForce(yield* settingsNow(context)).durable) throw durableOff()
}

export function durableOff(): BelfryError {
  return new BelfryError('conflict', 'Durable tasks are off: none is made, changed or run.', {
    hint: 'A person turns them on again: `belfry setting set durable on`.',
    details: { reason: 'durable-off' },
  })
}
