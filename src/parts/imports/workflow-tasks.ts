import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { Timing } from '../../core/timing/timing.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { instantOf, isoText } from '../../operations/input/instant.ts'
import type { Problem } from '../../operations/input/refuse-input.ts'
import { type Draft, type DraftedSchedule, type Left, nothing, shown, whyUnsound } from './draft.ts'
import { type Fields, fieldsIn, isFields, listIn, strangers } from './json-file.ts'
import { cronOf } from './workflow-cron.ts'

/** Fields of a task that describe the work; each run receives them. */
const facts = ['id', 'kind', 'prompt', 'workflowId', 'runId', 'sessionId', 'source', 'metadata']
/** Fields that say when it runs. */
const timed = ['nextRunAt', 'expiresAt', 'intervalMinutes', 'cron', 'jitterSeconds', 'maxRuns', 'status']
/** Fields with its history, which go into the description. */
const past = ['createdAt', 'updatedAt', 'lastRunAt', 'lastDueAt', 'runCount']
const knownFields: ReadonlySet<string> = new Set([...facts, ...timed, ...past])

const whole = 'the task'
const notTaken: Readonly<Record<string, string>> = {
  completed: 'it is completed',
  expired: 'it has expired',
}

export interface TaskReading {
  readonly queue: string
  /** The time zone of calendars: cool-workflow used that of its process, and no file has it. */
  readonly zone: string
  readonly now: number
  readonly problems: Problem[]
}

/** Reads `tasks.json` into schedules without a target: an outside host leases each run with its prompt. */
export function draftOfTasks(text: string, reading: TaskReading): Draft {
  const from = { field: 'tasks', name: 'tasks.json', problems: reading.problems }
  const file = fieldsIn(text, from)
  const tasks = file === null ? null : listIn(file, 'tasks', from)
  if (file === null || tasks === null) return nothing
  const known = new Set(['schemaVersion', 'tasks', 'history'])
  const left: Left[] = [
    ...strangers(file, known, 'tasks', 'a task list of cool-workflow has no such field'),
    ...records(file),
  ]
  const names = new Set<string>()
  const schedules = tasks.flatMap((task, index): DraftedSchedule[] => {
    const where = `tasks tasks[${index}]${isFields(task) && typeof task.id === 'string' ? ` ${shown(task.id)}` : ''}`
    const notes: Left[] = []
    const note = (what: string, why: string) => notes.push({ where, what, why, isTaken: true })
    const drafted = specOf(task, reading, note)
    const why = 'why' in drafted ? drafted.why : names.has(drafted.spec.name) ? 'another task has its id' : null
    if (why !== null || 'why' in drafted) {
      left.push({ where, what: whole, why: why ?? '' })
      return []
    }
    names.add(drafted.spec.name)
    for (const { what } of strangers(task as Fields, knownFields, where, strange)) note(what, strange)
    left.push(...notes)
    const isPaused = (task as Fields).status === 'paused'
    return [{ from: where, spec: drafted.spec, ...(isPaused && { pausedReason }) }]
  })
  return { ...nothing, schedules, left }
}

const pausedReason = 'paused in cool-workflow'
const strange = 'a task of cool-workflow has no such field; it is passed on in the payload'

function records({ history }: Fields): Left[] {
  if (history === undefined || (Array.isArray(history) && history.length === 0)) return []
  const what = Array.isArray(history) ? `history, ${history.length} records` : 'history'
  return [
    { where: 'tasks', what, why: 'it belongs to runs of cool-workflow; the history here begins with the first run' },
  ]
}

type Note = (what: string, why: string) => void
type Drafted = { readonly spec: ScheduleSpec } | { readonly why: string }

function specOf(task: unknown, reading: TaskReading, note: Note): Drafted {
  if (!isFields(task)) return { why: 'it is not an object' }
  const { id, status, prompt, jitterSeconds = 0 } = task
  if (typeof id !== 'string') return { why: 'it has no id, which would be the name of its schedule' }
  if (status !== 'active' && status !== 'paused') {
    const named = typeof status === 'string' && Object.hasOwn(notTaken, status) ? notTaken[status] : undefined
    return {
      why: named ?? (status === undefined ? 'it has no status' : `its status ${shown(status)} is not known`),
    }
  }
  if (typeof prompt !== 'string') return { why: 'it has no prompt' }
  const when = timingOf(task, reading, note)
  if ('why' in when) return when
  const bounds = boundsOf(task)
  if ('why' in bounds) return bounds
  if (jitterSeconds !== 0) note(`jitterSeconds ${shown(jitterSeconds)}`, 'it runs at its instants, without jitter')
  const spec = {
    name: id,
    ...when,
    ...bounds,
    queue: reading.queue,
    payload: payloadOf(task),
    description: description(task),
  }
  const why = whyUnsound(spec, reading.now)
  return why === null ? { spec } : { why }
}

type When = Pick<ScheduleSpec, 'timing' | 'startAt' | 'startNow'>

function timingOf(task: Fields, { zone, now }: TaskReading, note: Note): When | { readonly why: string } {
  switch (task.kind) {
    case 'loop':
      return loopOf(task, note)
    case 'reminder': {
      const at = instantIn(task.nextRunAt)
      return at === null ? { why: 'its nextRunAt is not an instant' } : { timing: { at } }
    }
    case 'cron':
      return calendarOf(task, { zone, now }, note)
    default:
      return { why: `its kind ${shown(task.kind)} is not known` }
  }
}

/** It counted from each completion, as an interval here does. The first run is due when it was due there, or at once. */
function loopOf({ intervalMinutes = 1, nextRunAt }: Fields, note: Note): When | { readonly why: string } {
  if (intervalMinutes === 0) return { why: 'its interval is 0: it was due all the time' }
  if (!Number.isSafeInteger(intervalMinutes))
    return { why: `its intervalMinutes ${shown(intervalMinutes)} is not an integer` }
  const timing: Timing = { everyMs: (intervalMinutes as number) * 60_000 }
  const startAt = instantIn(nextRunAt)
  if (startAt !== null) return { timing, startAt, startNow: true }
  note(`nextRunAt ${shown(nextRunAt)}`, 'it is not an instant; the first run is due after one interval')
  return { timing }
}

function calendarOf(
  { cron, nextRunAt }: Fields,
  { zone, now }: Pick<TaskReading, 'zone' | 'now'>,
  note: Note,
): When | { readonly why: string } {
  if (typeof cron !== 'string') return { why: 'it has no cron' }
  const read = cronOf(cron)
  if ('why' in read) return read
  for (const value of read.dead)
    note(`${shown(value)} in its cron`, 'it never matched in cool-workflow, and is left out')
  const dueAt = instantIn(nextRunAt)
  if (dueAt === null && nextRunAt !== undefined) note(`nextRunAt ${shown(nextRunAt)}`, 'it is not an instant')
  if (dueAt !== null && dueAt <= now) {
    note(
      `due since ${isoText(dueAt)}`,
      'cool-workflow had not done it; the first run is due at the next instant of the calendar',
    )
  }
  return { timing: { cron: read.cron, zone } }
}

/** The end of a task: an instant, or the number of runs that are left of its maximum. */
function boundsOf(task: Fields): Pick<ScheduleSpec, 'endAt' | 'maxRuns'> | { readonly why: string } {
  const { expiresAt, maxRuns, runCount = 0 } = task
  const endAt = expiresAt === undefined ? undefined : instantIn(expiresAt)
  if (endAt === null)
    return { why: `its expiresAt ${shown(expiresAt)} is not an instant, so cool-workflow treated it as expired` }
  if (maxRuns === undefined) return onlyGiven({ endAt })
  const areCounts = Number.isSafeInteger(maxRuns) && Number.isSafeInteger(runCount)
  if (!areCounts)
    return { why: `its maxRuns ${shown(maxRuns)} and runCount ${shown(runCount)} are not numbers of runs` }
  const remaining = (maxRuns as number) - (runCount as number)
  return remaining < 1 ? { why: 'it has had all its runs' } : { ...onlyGiven({ endAt }), maxRuns: remaining }
}

function instantIn(value: unknown): number | null {
  const read = typeof value === 'string' ? instantOf(value) : null
  return read !== null && 'at' in read ? read.at : null
}

function payloadOf(task: Fields): Fields {
  return Object.fromEntries(Object.entries(task).filter(([name]) => facts.includes(name) || !knownFields.has(name)))
}

/** The origin and history of a task. */
function description(task: Fields): string {
  const told = past.filter((name) => task[name] !== undefined).map((name) => `${name} ${shown(task[name])}`)
  return `A task of cool-workflow${told.length === 0 ? '' : `: ${told.join(', ')}`}.`
}
