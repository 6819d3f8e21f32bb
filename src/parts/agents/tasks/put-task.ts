import { createHash } from 'node:crypto'
import { type ChildRefusal, childRefusal } from '../../../core/agent/child-quota.ts'
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
import { holdWithParent } from '../children/parent-held.ts'
import { freeId, insertTask, sameTask, unfinishedOfAgent, unfinishedTasks } from './task-rows.ts'
import { keepExpiry } from './tell-tasks.ts'

/** A requested task. The store chooses its id. */
export interface NewTask {
  /** Without a name, the task is named `task-` and its id. */
  readonly spec: Omit<ScheduleSpec, 'name' | 'task'> & { readonly name?: string | undefined }
  readonly facts: Omit<TaskFacts, 'id'>
  /** Prompt and timing as the caller gave them. */
  readonly asked: unknown
  /** Random ids; the first free one is used. */
  readonly ids: readonly string[]
  /** How many unfinished tasks of the project the other store keeps; they count for the limit too. */
  readonly others?: number
  /** How many of them the same agent planned outside of runs. */
  readonly othersOfAgent?: number
  /** The run in which an agent plans the task. The quota of the run applies. */
  readonly within?: RunBounds | undefined
}

export type TaskPut =
  | { readonly answer: 'created'; readonly id: string; readonly put: PutAnswer }
  /** The author has just requested the task in the same words. */
  | { readonly answer: 'unchanged'; readonly id: string }

/**
 * Creates a task, unless its author has just created the same one. Of two callers the second waits for the first, so that a project never
 * has too many tasks.
 */
export function* createTask(context: StoreContext, task: NewTask, { actor }: { readonly actor: Actor }): Step<TaskPut> {
  yield* lockManaged(context)
  const { project, author } = task.facts
  const since = (yield* clockNow()) - sameTaskMs
  const same = yield* sameTask(context, { project, author, askedAs: askedAs(task) }, since)
  if (same?.spec.task !== undefined) {
    const { id } = same.spec.task
    const differing = differingFields(same.spec, task)
    if (differing.length > 0) throw askedOtherwise(id, differing)
    return { answer: 'unchanged', id }
  }
  const { within, spec, facts } = task
  const asked = { timing: spec.timing, expiresAt: facts.expiresAt ?? since }
  const child = within === undefined ? undefined : yield* admitChild(context, asked, within)
  if (child === undefined && facts.by === 'agent') yield* admitAgent(context, task, asked)
  return { answer: 'created', ...(yield* makeTask(context, task, { actor, ...(child && { child }) })) }
}
createTask.rehearses = true as const

/** Lets an agent plan a task outside of a run, such as in a live session, or refuses it. */
function* admitAgent(
  context: StoreContext,
  { facts: { project, author }, othersOfAgent = 0 }: NewTask,
  asked: { readonly timing: ScheduleSpec['timing']; readonly expiresAt: number },
): Step<void> {
  const live = (yield* unfinishedOfAgent(context, project, author)) + othersOfAgent
  const refusal = childRefusal({ now: yield* clockNow(), depth: 0, live, isOutside: true, ...asked })
  if (refusal !== null) throw notForAgent(refusal)
}

export function notForAgent({ says, hint, reason }: ChildRefusal): BelfryError {
  return new BelfryError('not-allowed', says, { hint, details: { caller: 'agent', reason } })
}

function askedAs({ asked }: NewTask): string {
  return createHash('sha256').update(canonicalJson(asked)).digest('hex').slice(0, 32)
}

/** Prompt, timing and name are what makes it the same task, so they do not differ; what follows from them does not count either. */
const sameAnyway = ['name', 'timing', 'task', 'target', 'options', 'asksWhenMissed']

/** The fields in which the same prompt and timing was asked for differently. `in` and `expires` count from now, so they move with the clock. */
function differingFields(before: ScheduleSpec, { spec, facts }: NewTask): string[] {
  const flat = (of: NewTask['spec'], expiresAt: number | undefined) => {
    const { lane: _, agent: __, ...target } = (of.target ?? {}) as Readonly<Record<string, unknown>>
    const rest = Object.entries(of).filter(([field]) => !sameAnyway.includes(field))
    return { fields: { ...target, ...of.options, ...Object.fromEntries(rest) } as Fields, expiresAt }
  }
  const [one, other] = [flat(before, before.task?.expiresAt), flat(spec, facts.expiresAt)]
  const names = [...new Set([...Object.keys(one.fields), ...Object.keys(other.fields)])]
  const textOf = (value: unknown) => (value === undefined ? '' : canonicalJson(JSON.parse(JSON.stringify(value))))
  const differing = names.filter((name) => textOf(one.fields[name]) !== textOf(other.fields[name]))
  const isOtherEnd = Math.abs((one.expiresAt ?? 0) - (other.expiresAt ?? 0)) > sameTaskMs
  const asTyped = differing.map((name) => typedNames[name] ?? name.replace(/Ms$/, ''))
  return [...asTyped, ...(isOtherEnd ? ['expires'] : [])].sort()
}

/** The fields whose names differ where they are typed. */
const typedNames: Readonly<Record<string, string>> = { spread: 'exact', maxAttempts: 'attempts' }

type Fields = Readonly<Record<string, unknown>>

function askedOtherwise(id: string, fields: readonly string[]): BelfryError {
  const message = `Task ${id} was created less than a minute ago with the same prompt and timing, and with other ${fields.join(', ')}.`
  return new BelfryError('conflict', message, {
    hint: `Change that task with \`belfry task edit ${id}\`, or give this one a name of its own with \`name\`.`,
    details: { reason: 'asked-otherwise', task: id, fields },
  })
}

export interface Making {
  readonly actor: Actor
  readonly child?: AdmittedChild
  /** The config file that manages the task. */
  readonly source?: string
}

/** Creates a task, even if its author has just requested the same one. */
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
    const loop = (yield* lockNamedSchedule(context, name)) as ScheduleRow
    yield* planTurn(context, loop, { at: createdAt, reason: 'The loop begins.', author })
  }
  if (child?.parent != null) {
    yield* pauseWithParent(context, name, child.parent)
    yield* holdWithParent(context, name, child.parent)
  }
  const after = (yield* lockNamedSchedule(context, name)) as ScheduleRow
  return { id, put: { ...put, schedule: scheduleViewOf(after) } }
}

/** Creates the task of a file, or changes the task that the file created before. A changed task keeps its id, and with it its spread. */
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

/** Refuses to write a task while durable tasks are off, and stores its expiry. Called in every transaction that writes a schedule. */
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
