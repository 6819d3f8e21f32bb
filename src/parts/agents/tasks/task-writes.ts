import { oftenRefusal } from '../../../core/agent/child-quota.ts'
import { agentExpiryMs } from '../../../core/agent/task.ts'
import { callerKind } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import type { Reading } from '../../../operations/input/read-input.ts'
import { refusal } from '../../../operations/input/refuse-input.ts'
import { type Doors, everyDoor, operation } from '../../../operations/operation.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { refuseLeaving, refuseLoosening, refuseUnbounding } from '../../../operations/refuse-loosening.ts'
import { readUpcoming } from '../../../operations/schedule/upcoming.ts'
import { putSchedule } from '../../../store/schedules/put-schedule.ts'
import { clockNow } from '../../../store/statement.ts'
import type { ScheduleView } from '../../../store/views.ts'
import { presentTask } from './present-task.ts'
import { createTask, type NewTask, notForAgent } from './put-task.ts'
import { readTask, readTaskChange } from './read-task.ts'
import { budgetsOf, type TaskWritten, taskOf, taskWritten } from './task-answer.ts'
import { type TaskHome, taskHome } from './task-home.ts'
import { loopInput, taskChange, taskInput } from './task-input.ts'
import type { TaskView } from './task-rows.ts'
import { showTaskWritten } from './task-show.ts'

const idsTried = 4
const nextCount = 5

/** All fields of a schedule, three times, are more than a model should read for one verb. */
const notModels: Doors = { ...everyDoor, mcp: 'Models make tasks with the tools of the set tasks.' }

const writing = {
  noun: 'task',
  effect: 'write',
  scope: 'operate',
  adminForCommands: true,
  output: taskWritten,
  show: showTaskWritten,
  errors: ['invalid', 'not-found', 'conflict', 'quota'],
  doors: notModels,
} as const

export const create = operation({
  ...writing,
  verb: 'create',
  method: 'POST',
  begins: true,
  rehearses: true,
  takes: [],
  says: 'Create a task: a prompt for an agent, at an instant or again and again.',
  request: 'a task',
  input: taskInput,
  about: () => 'task',
  examples: [
    { cron: '0 9 * * 1-5', zone: 'Europe/Paris', agent: 'claude', prompt: 'Triage the inbox' },
    { in: '20m', agent: 'codex', prompt: 'Is the deploy healthy?' },
    { name: 'review', every: '1d', promptFile: '/srv/app/prompts/review.md', context: 'last', expires: '30d' },
  ],
  judge: (context, reading) => createdFrom(context, reading as Reading<Readonly<Record<string, unknown>>>),
})

export const loop = operation({
  ...writing,
  verb: 'loop',
  begins: true,
  rehearses: true,
  takes: ['prompt'],
  says: 'Give an agent the same prompt again and again, at once and then every so often, until a guard says yes.',
  request: 'a loop',
  input: loopInput,
  about: () => 'task',
  examples: [
    { prompt: 'Is CI green? Fix it if not.', every: '5m', until: { command: 'test -f green' }, maxRuns: 40 },
    { prompt: 'Look at the queue.', every: '30m', agent: 'codex', expires: '2d' },
  ],
  judge(context, reading) {
    const { every, everyMs, ...value } = reading.value
    const isMissing = reading.given.every === undefined && reading.given.everyMs === undefined
    const problem = { field: 'every', problem: 'is missing', expected: 'the time between two looks, such as 5m' }
    const problems = [...reading.problems, ...(isMissing ? [problem] : [])]
    const whole = { ...value, ...onlyGiven({ every, everyMs }), startNow: true }
    return createdFrom(context, { ...reading, problems, value: whole })
  },
})

type Given = Readonly<Record<string, unknown>>

async function createdFrom(context: OperationContext, reading: Reading<Given>): Promise<TaskWritten> {
  const { answer, view, home } = await madeFrom(context, reading)
  return written(home, answer, view)
}

type ReadTask = Omit<NewTask, 'ids'>

export interface MakingTask {
  /** Each run of the task decides when the next run is. */
  readonly isUntimed?: boolean
  /** A change to apply to the task after it was read. */
  readonly shaped?: (task: ReadTask) => ReadTask
}

export interface MadeTask {
  readonly answer: 'created' | 'unchanged'
  readonly view: TaskView
  readonly home: TaskHome
}

/** Creates a requested task in the store that `durable` selects. */
export async function madeFrom(
  context: OperationContext,
  { value: { durable, ...value }, given: { durable: _, ...given }, problems }: Reading<Given>,
  { isUntimed, shaped = (task) => task }: MakingTask = {},
): Promise<MadeTask> {
  const home = await taskHome(context, durable as boolean | undefined)
  const { store, actor } = home
  const now = await store.look(clockNow)
  const task = shaped(await readTask(home, { value, given, problems }, { now, isUntimed }))
  const ids = Array.from({ length: idsTried }, () => context.randomHex(4))
  refuseUnbounding(context, 'The task', { before: null, after: task.spec })
  const { project, author } = task.facts
  const [others, othersOfAgent] = [await home.others(project), await home.othersOfAgent(project, author)]
  const answer = await store.do(createTask, { ...task, ids, others, othersOfAgent }, { actor })
  const view = answer.answer === 'created' ? fresh(answer.put.schedule) : await presentTask(home, answer.id)
  return { answer: answer.answer, view, home }
}

/** A dry run leaves no row to read. */
function fresh(schedule: ScheduleView): TaskView {
  return { ...schedule, isLive: false, missedRun: null, lastStartedAt: null, lastRun: null }
}

async function written(context: OperationContext, answer: TaskWritten['answer'], view: TaskView): Promise<TaskWritten> {
  const { isLive: _, missedRun: __, lastStartedAt: ___, lastRun: ____, ...schedule } = view
  const now = await context.store.look(clockNow)
  const next = await readUpcoming(context.store, { now, schedule, count: nextCount })
  return { answer, task: taskOf(view), budgets: await budgetsOf(context, view), next }
}

export const edit = operation({
  ...writing,
  verb: 'edit',
  method: 'PATCH',
  idempotent: true,
  rehearses: true,
  fieldsAs: 'create',
  takes: ['id'],
  says: 'Change a task: null removes a field, and a new timing replaces the old one.',
  request: 'a change of a task',
  input: taskChange,
  examples: [
    { id: '3f9c01ab', cron: '30 8 * * 1-5' },
    { id: '3f9c01ab', permanent: true, reason: 'It is worth it.' },
  ],
  async judge(caller, reading) {
    const { id, ifVersion, reason } = reading.value
    if (id === undefined) throw refusal('The change of a task', reading.problems)
    const before = await presentTask(caller, id)
    const context = before.home
    const { store, actor } = context
    const now = await store.look(clockNow)
    const spec = await readTaskChange(context, reading as never, { before: before.spec, now })
    refuseOften(context, spec, now)
    refuseLoosening(context, `Task ${id}`, { before: before.spec.options, after: spec.options })
    await refuseLeaving(context, `Task ${id}`, { before: before.spec, after: spec })
    refuseUnbounding(context, `Task ${id}`, { before: before.spec, after: spec })
    const seen = { ifVersion: ifVersion ?? before.version, ifId: before.id }
    const put = await store.do(putSchedule, spec, { mode: 'put', actor, ...seen, ...onlyGiven({ reason }) })
    if (put.answer === 'version-differs') throw otherVersion(id, put.schedule.version)
    const { isLive, missedRun, lastStartedAt, lastRun } = before
    const view = { ...put.schedule, isLive, missedRun, lastStartedAt, lastRun }
    return written(context, put.answer === 'updated' ? 'updated' : 'unchanged', view)
  },
})

/** What an agent may not plan it may not make of a planned task either. */
function refuseOften({ actor }: OperationContext, { timing, task }: ScheduleSpec, now: number): void {
  if (callerKind(actor) !== 'agent') return
  const refusal = oftenRefusal({ now, timing, expiresAt: task?.expiresAt ?? now + agentExpiryMs })
  if (refusal !== null) throw notForAgent(refusal)
}

function otherVersion(id: string, version: number): BelfryError {
  return new BelfryError('conflict', `Task ${id} has version ${version}: another caller has changed it.`, {
    hint: 'Read it again, and decide again.',
    details: { task: id, version },
  })
}
