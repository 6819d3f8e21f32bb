import { BelfryError } from '../core/error.ts'
import type { ScheduleSpec } from '../core/schedule.ts'
import type { PutAnswer } from '../store/port.ts'
import type { ScheduleView } from '../store/view.ts'
import { throwAbsentSchedule } from './absent.ts'
import type { OperationContext } from './context.ts'
import { onlyGiven } from './only-given.ts'
import { inWordsOf, quoted, refuse } from './problem.ts'
import { type ReadSchedule, readPatch, readSchedule } from './read-schedule.ts'
import type { ScheduleInput, SchedulePatch } from './schedule-input.ts'
import { changedFields, definitionOf, type Schedule, scheduleOf } from './schedule-view.ts'
import { inWords, problemsOf } from './schedule-words.ts'

/** What a write of a schedule came to. */
export interface ScheduleWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  /** The fields that are new or other than before. */
  readonly changed: readonly string[]
  readonly schedule: Schedule
}

/** Creates a schedule. The same again changes nothing; a name that has another spec is refused. */
export function create(context: OperationContext, input: ScheduleInput): Promise<ScheduleWritten> {
  return write(context, input, 'create')
}

/** Creates a schedule, or makes the one that has its name be like this; says what changed. */
export function put(context: OperationContext, input: ScheduleInput): Promise<ScheduleWritten> {
  return write(context, input, 'put')
}

async function write(
  context: OperationContext,
  input: ScheduleInput,
  mode: 'create' | 'put',
): Promise<ScheduleWritten> {
  const before = await namedSchedule(context, (input as ScheduleInput | null)?.name)
  // The zone of a schedule is resolved once and kept: another machine that puts it again does not move it.
  const timing = before?.spec.timing
  const zone = timing?.cron === undefined ? context.zone : timing.zone
  const reading = readSchedule(input, { folder: context.folder, zone })
  return commit(context, reading, { mode, before })
}

/** Changes what is named of a schedule. */
export async function update(context: OperationContext, name: string, patch: SchedulePatch): Promise<ScheduleWritten> {
  for (let tries = 1; ; tries++) {
    const before = (await namedSchedule(context, name)) ?? (await throwAbsentSchedule(context, name))
    const reading = readPatch(before.spec, patch, context)
    const ifVersion = reading.ifVersion ?? before.version
    try {
      return await commit(context, { ...reading, ifVersion }, { mode: 'put', before })
    } catch (error) {
      // Somebody else wrote in between. Whoever did not say over which version he writes means the newest.
      const isRace = error instanceof BelfryError && error.code === 'conflict' && reading.ifVersion === undefined
      if (!isRace || tries >= triesMax) throw error
    }
  }
}

const triesMax = 5

/** The schedule that has this name now. The store would also know a deleted one by its id. */
async function namedSchedule({ store }: OperationContext, name: unknown): Promise<ScheduleView | null> {
  const found = typeof name === 'string' ? await store.read.schedule(name) : null
  return found !== null && found.deletedAt === null && found.spec.name === name ? found : null
}

interface Commit {
  readonly mode: 'create' | 'put'
  readonly before: ScheduleView | null
}

async function commit(context: OperationContext, reading: ReadSchedule, how: Commit): Promise<ScheduleWritten> {
  const { store, actor } = context
  const { mode, before } = how
  const { spec, given, ifVersion, reason } = reading
  const subject = `Schedule ${quoted(spec.name)}`
  refuse(subject, problemsOf(reading, { now: await store.read.now(), before: before?.spec }))
  const answer = await inWordsOf(
    subject,
    (problem) => inWords(problem, given),
    () => store.putSchedule(spec, { mode, actor, ...onlyGiven({ ifVersion, reason }) }),
  )
  const { schedule } = answer
  const changed = await changesOf(context, answer, before, spec)
  if (answer.answer === 'exists') {
    throw new BelfryError('conflict', `${subject} exists and is another: ${changed.join(', ')} differ.`, {
      hint: 'Use put to change it, or choose another name.',
      details: { schedule: spec.name, version: schedule.version, changed },
    })
  }
  if (answer.answer === 'version-differs') {
    throw new BelfryError('conflict', `${subject} has version ${schedule.version}, not ${ifVersion}.`, {
      hint: 'Look at what it says by now, and decide anew.',
      details: { schedule: spec.name, version: schedule.version, changed },
    })
  }
  return { answer: answer.answer, changed, schedule: scheduleOf(schedule) }
}

/** What changed, in the words of the input. The store tells the version before where we have not seen it. */
async function changesOf(
  { store }: OperationContext,
  { answer, schedule }: PutAnswer,
  before: ScheduleView | null,
  spec: ScheduleSpec,
): Promise<string[]> {
  if (answer === 'unchanged') return []
  if (answer === 'created') return Object.keys(definitionOf(schedule.spec))
  if (answer !== 'updated') return changedFields(schedule.spec, spec)
  const { version } = schedule
  if (before?.version === version - 1) return changedFields(before.spec, schedule.spec)
  const versions = await store.read.scheduleVersions(spec.name)
  const last = versions.find((one) => one.version === version - 1)
  return last === undefined ? [] : changedFields(last.content, schedule.spec)
}
