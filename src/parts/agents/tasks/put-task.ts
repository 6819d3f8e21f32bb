import { createHash } from 'node:crypto'
import { sameTaskMs, type TaskFacts, tasksOfProjectMax } from '../../../core/agent/task.ts'
import type { RunBounds } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import { parseId } from '../../../core/id.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { settingsInForce } from '../../../core/setting.ts'
import type { Actor } from '../../../store/audit/actor.ts'
import { canonicalJson } from '../../../store/check.ts'
import { lockManaged, refuseManaged } from '../../../store/managed.ts'
import type { PutAnswer } from '../../../store/port.ts'
import { scheduleViewOf } from '../../../store/reads/find-schedule.ts'
import { putSchedule } from '../../../store/schedules/put-schedule.ts'
import { lockNamedSchedule, type ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { settingsNow } from '../../../store/settings/settings-row.ts'
import { clockNow, metOthers, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { type AdmittedChild, admitChild, pauseWithParent } from '../children/child-rows.ts'
import { planTurn } from '../children/loop-turns.ts'
import { freeId, insertTask, sameTask, unfinishedTasks } from './task-rows.ts'
import { keepExpiry } from './tell-tasks.ts'

/** A task that is asked for. Its id is chosen by the store. */
export interface NewTask {
  /** Without a name it is `task-` and its id. */
  readonly spec: Omit<ScheduleSpec, 'name' | 'task'> & { readonly name?: string | undefined }
  readonly facts: Omit<TaskFacts, 'id'>
  /** Prompt and timing as they were given. */
  readonly asked: unknown
  /** Random ids, of which the first free one is taken. */
  readonly ids: readonly string[]
  /** Unfinished tasks of the project that are kept elsewhere, and count too. */
  readonly others?: number
  /** The run in which an agent plans it, under its quota. */
  readonly within?: RunBounds | undefined
}

export type TaskPut =
  | { readonly answer: 'created'; readonly id: string; readonly put: PutAnswer }
  /** The author has just asked for it in the same words. */
  | { readonly answer: 'unchanged'; readonly id: string }

/** Makes a task, unless its author has just made the same. Of two callers the second waits for the first, so that a project never has too many. */
export function* createTask(context: StoreContext, task: NewTask, { actor }: { readonly actor: Actor }): Step<TaskPut> {
  yield* lockManaged(context)
  const { project, author } = task.facts
  const since = (yield* clockNow()) - sameTaskMs
  const same = yield* sameTask(context, { project, author, askedAs: askedAs(task) }, since)
  if (same?.spec.task !== undefined) return { answer: 'unchanged', id: same.spec.task.id }
  const { within, spec, facts } = task
  const asked = { timing: spec.timing, expiresAt: facts.expiresAt ?? since }
  const child = within === undefined ? undefined : yield* admitChild(context, asked, within)
  return { answer: 'created', ...(yield* makeTask(context, task, { actor, ...(child && { child }) })) }
}
createTask.rehearses = true as const

function askedAs({ asked }: NewTask): string {
  return createHash('sha256').update(canonicalJson(asked)).digest('hex').slice(0, 32)
}

export interface Making {
  readonly actor: Actor
  readonly child?: AdmittedChild
  /** The file that manages it. */
  readonly source?: string
}

/** Makes a task, whatever its author has asked for before. */
export function* makeTask(
  context: StoreContext,
  task: NewTask,
  { child, ...making }: Making,
): Step<{ id: string; put: PutAnswer }> {
  const { spec, facts, ids, others = 0 } = task
  const { project, author, by, run, expiresAt = null } = facts
  if ((yield* unfinishedTasks(context, project)) + others >= tasksOfProjectMax) throw tooMany(project)
  const id = yield* freeId(context, ids)
  if (id === undefined) throw metOthers('Every id for the task was taken.')
  const { name = `task-${id}` } = spec
  const put = yield* putSchedule(context, { ...spec, name, task: { id, ...facts } }, { mode: 'create', ...making })
  if (put.answer !== 'created') throw nameTaken(name)
  const scheduleId = parseId('schedule', put.schedule.id) as number
  const runId = run === undefined ? null : parseId('run', run)
  const [asked, createdAt] = [askedAs(task), yield* clockNow()]
  const row = { scheduleId, id, project, author, askedAs: asked, caller: by, runId, createdAt, expiresAt }
  yield* insertTask(context, { ...row, parentId: child?.parent?.id ?? null, depth: child?.depth ?? 0 })
  if (facts.pace === undefined && child?.parent == null) return { id, put }
  if (facts.pace === 'self') {
    const turn = { at: createdAt, reason: 'The loop begins.', author }
    yield* planTurn(context, { id: scheduleId, name }, turn)
  }
  if (child?.parent != null) yield* pauseWithParent(context, name, child.parent)
  const after = (yield* lockNamedSchedule(context, name)) as ScheduleRow
  return { id, put: { ...put, schedule: scheduleViewOf(after) } }
}

/** Makes the task of a file, or changes the one that the file has made: that one keeps its id, and with it its spread. */
export function* applyTask(
  context: StoreContext,
  task: NewTask & { readonly spec: { readonly name: string } },
  { actor, source, adopt }: Making & { readonly source: string; readonly adopt: boolean },
): Step<{ answer: PutAnswer['answer']; before: ScheduleSpec | null; after: ScheduleSpec }> {
  const { spec, facts } = task
  const found = yield* lockNamedSchedule(context, spec.name)
  const known = found?.spec.task
  if (found === null || known === undefined) {
    const { put } = yield* makeTask(context, task, { actor, source })
    return { answer: put.answer, before: null, after: put.schedule.spec }
  }
  refuseManaged({ noun: 'task', name: spec.name, managedBy: found.managedBy }, source)
  const { expiresAt: _, ...kept } = known
  const expiry = facts.expiresAt === undefined ? {} : { expiresAt: facts.expiresAt }
  const whole = { ...spec, task: { ...kept, project: facts.project, ...expiry } }
  const put = yield* putSchedule(context, whole, { mode: 'put', actor, source, adopt })
  return { answer: put.answer, before: found.spec, after: put.schedule.spec }
}

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

/** Refuses to write a task while durable tasks are off, and keeps its expiry. Called in every transaction that writes a schedule. */
export function* taskWritten(context: StoreContext, said: object): Step<void> {
  const { task } = said as Partial<ScheduleSpec>
  if (task === undefined) return
  if (!settingsInForce(yield* settingsNow(context)).durable) throw durableOff()
  yield* keepExpiry(context, task)
}

export function durableOff(): BelfryError {
  return new BelfryError('conflict', 'Durable tasks are off: none is made, changed or run.', {
    hint: 'A person turns them on again: `belfry setting set durable on`.',
    details: { reason: 'durable-off' },
  })
}
