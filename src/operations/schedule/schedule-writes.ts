import { z } from 'zod'
import { callerKind } from '../../core/caller.ts'
import { BelfryError } from '../../core/error.ts'
import { refuseUnseen } from '../../core/schedule/refuse-unseen.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { PutAnswer, PutOptions } from '../../store/port.ts'
import { scheduleNow, scheduleVersions } from '../../store/reads/find-schedule.ts'
import { putSchedule } from '../../store/schedules/put-schedule.ts'
import type { ScheduleView } from '../../store/views.ts'
import { refuseOtherPayload, refuseStoredProgram } from '../caller-scope.ts'
import { addedTargets } from '../fields/added-fields.ts'
import { reason, scheduleName } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import type { Reading } from '../input/read-input.ts'
import { quoted, refusal, refuse } from '../input/refuse-input.ts'
import { throwAbsentSchedule } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { createdQueue, type QueueCreated } from '../queue/queue-created.ts'
import { refuseLeaving, refuseLoosening, refuseUnbounding } from '../refuse-loosening.ts'
import { refuseSystem } from '../refuse-system.ts'
import { type ReadSchedule, readPatch, readSchedule, zoneKept } from './read-schedule.ts'
import {
  type Changes,
  changesBetween,
  definitionOf,
  type Schedule,
  type ScheduleBefore,
  scheduleOf,
} from './schedule-answer.ts'
import { scheduleInWords } from './schedule-in-words.ts'
import { type ScheduleFields, scheduleChange, scheduleInput, seenShape } from './schedule-input.ts'
import { problemsOf } from './schedule-problems.ts'
import { scheduleWritten } from './schedule-schema.ts'
import { readUpcoming, type UpcomingRun } from './upcoming.ts'

/** The result of a write. */
export interface ScheduleWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  /** The fields that are new or changed. */
  readonly changed: readonly string[]
  /** The previous values of the changed fields; new fields are absent. */
  readonly was: ScheduleBefore
  /** The schedule in a few sentences. */
  readonly inWords: string
  readonly schedule: Schedule
  /** The queue that this write created, if it did. */
  readonly queueCreated?: QueueCreated
  readonly next: readonly UpcomingRun[]
}

/** Enough to show a pattern and a weekend; `next` lists more. */
const nextCount = 5

const writing = {
  noun: 'schedule',
  effect: 'write',
  scope: 'operate',
  adminForCommands: true,
  rehearses: true,
  takes: ['name'],
  output: scheduleWritten,
  show: { load: async () => (await import('./show-written.ts')).showScheduleWritten },
  errors: ['invalid', 'not-found', 'conflict', 'quota'],
  doors: everyDoor,
} as const

export const create = operation({
  ...writing,
  verb: 'create',
  method: 'POST',
  fieldsAs: 'put',
  begins: true,
  says: 'Create a schedule; the same schedule again changes nothing, and a name in use with another spec is refused.',
  request: 'a schedule',
  input: scheduleInput,
  examples: [
    { name: 'ping', every: '10s', target: { http: { url: 'https://example.org/health' } } },
    {
      name: 'sync',
      every: '15m',
      target: { handler: 'sync' },
      attempts: 5,
      backoff: { base: '5s', factor: 3, cap: '10m' },
    },
    { name: 'once', at: '2026-12-01T09:00+01:00', target: { command: ['echo', 'hello'] } },
  ],
  judge: (context, reading) => write(context, reading, 'create'),
})

export const put = operation({
  ...writing,
  verb: 'put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  defaultTool:
    'Create a schedule, or replace the one with this name: a field that is left out goes back to its default, so read it first. Timing is one of cron, every, at.',
  says: 'Create a schedule or replace the one with this name, and print what changed.',
  request: 'a schedule',
  input: scheduleInput,
  examples: [
    { name: 'nightly', cron: '0 2 * * *', zone: 'Europe/Paris', target: { command: ['/srv/backup.sh', '--full'] } },
    { name: 'report', cron: '0 9 * * 1-5', payload: { day: 'today' }, target: { handler: 'report' } },
  ],
  judge: (context, reading) => write(context, reading, 'put'),
})

export const update = operation({
  ...writing,
  verb: 'update',
  method: 'PATCH',
  idempotent: true,
  fieldsAs: 'put',
  says: 'Change fields of a schedule: null removes a field, and a new timing replaces the old one.',
  request: 'a change of a schedule',
  input: scheduleChange,
  examples: [
    { name: 'nightly', cron: '30 2 * * *', timeout: null, reason: 'The backup server is busy at two.' },
    { name: 'nightly', attempts: 2, backoff: { base: '1m' } },
  ],
  async judge(context, reading) {
    const { name } = reading.value
    if (name === undefined) throw refusal('The change of a schedule', reading.problems)
    for (let tries = 1; ; tries++) {
      const { now, schedule } = await context.store.look(scheduleNow, name)
      const before = schedule ?? (await throwAbsentSchedule(context, name))
      const read = readPatch(before.spec, reading, context)
      const seen = { ifVersion: read.ifVersion ?? before.version, ifId: read.ifId ?? before.id }
      try {
        return await commit(context, { ...read, ...seen }, { mode: 'put', now, before })
      } catch (error) {
        // Another process wrote in between. A caller that did not name a version means to change the newest.
        const isFree = read.ifVersion === undefined && seen.ifId === before.id
        const isRace = error instanceof BelfryError && error.code === 'conflict' && isFree
        if (!isRace || tries >= triesMax) throw error
      }
    }
  },
})

export const revert = operation({
  ...writing,
  verb: 'revert',
  scope: 'admin',
  says: 'Restore an earlier version of a schedule; by default the previous one.',
  request: 'a revert',
  input: z.strictObject({
    name: scheduleName,
    to: z
      .int()
      .min(1)
      .max(2 ** 31 - 1)
      .describe('The version to restore. Default: the previous one.')
      .optional(),
    ...seenShape,
    reason: reason.optional(),
  }),
  examples: [{ name: 'nightly' }, { name: 'nightly', to: 1, reason: 'The new calendar was wrong.' }],
  async run(context, { name, to, ifVersion, ifId, reason: why }) {
    const { now, schedule } = await context.store.look(scheduleNow, name)
    const before = schedule ?? (await throwAbsentSchedule(context, name))
    const wanted = to ?? before.version - 1
    const known = await context.store.look(scheduleVersions, name)
    const found = known.find(({ version }) => version === wanted)
    if (found === undefined) throw noVersion(name, wanted, before.version)
    const spec = found.content
    const said = { given: { name }, problems: [], spec, reason: why ?? `revert to version ${wanted}` }
    const seen = { ifVersion: ifVersion ?? before.version, ifId: ifId ?? before.id }
    return commit(context, { ...said, ...seen }, { mode: 'put', now, before })
  },
})

function noVersion(name: string, wanted: number, newest: number): BelfryError {
  const message = wanted === 0 ? 'has only one version' : `has no version ${wanted}, or it is not kept any more`
  return new BelfryError('not-found', `Schedule ${quoted(name)} ${message}.`, {
    hint: `Its newest version is ${newest}; \`belfry schedule versions\` lists those that are kept.`,
    details: { schedule: name, version: wanted, newest },
  })
}

const triesMax = 5

async function write(
  context: OperationContext,
  reading: Reading<ScheduleFields>,
  mode: 'create' | 'put',
): Promise<ScheduleWritten> {
  const { now, schedule: before } = await context.store.look(scheduleNow, reading.value.name ?? '')
  // The zone of a schedule is resolved once and kept: another machine that puts it again does not move it.
  const zone = zoneKept(before?.spec) ?? context.zone
  const read = readSchedule(reading, { ...context, zone })
  return commit(context, read, { mode, now, before })
}

interface Commit {
  readonly mode: 'create' | 'put'
  readonly now: number
  readonly before: ScheduleView | null
}

async function commit(context: OperationContext, reading: ReadSchedule, how: Commit): Promise<ScheduleWritten> {
  const { store, actor, fields } = context
  const { mode, now, before } = how
  if (before !== null) refuseSystem(before.spec.name, 'change')
  const stored = { ...before?.spec, ...before?.spec.options }
  refuseStoredProgram(context, before?.spec.target, ...addedTargets(fields.schedule, stored))
  const { spec, given, ifVersion, ifId, reason: why } = reading
  if (before !== null && isOtherPayload(before.spec, spec)) refuseOtherPayload(context, spec.target)
  // An invalid name is reported as a problem, so the stand-in for it is not shown.
  const subject = spec.name === given.name ? `Schedule ${quoted(spec.name)}` : 'The schedule'
  refuse(subject, problemsOf(reading, { now, before: before?.spec }))
  refuseLoosening(context, subject, { before: before?.spec.options, after: spec.options })
  await refuseLeaving(context, subject, { before: before?.spec ?? null, after: spec })
  refuseUnbounding(context, subject, { before: before?.spec ?? null, after: spec })
  const seen = onlyGiven({ ifVersion, ifId })
  if (before === null) refuseUnseen(spec.name, seen)
  const judged = callerKind(actor) === 'agent' ? asJudged(how, seen) : { mode, ...seen }
  const answer = await store.do(putSchedule, spec, { ...judged, actor, ...onlyGiven({ reason: why }) })
  const { schedule } = answer
  const changes = await changesOf(context, answer, before, spec)
  const { changed } = changes
  if (answer.answer === 'exists') {
    throw new BelfryError(
      'conflict',
      `${subject} exists with another spec: it differs in ${changed.map((field) => field.replace(/Ms$/, '')).join(', ')}.`,
      {
        hint: 'To change it, use `belfry schedule put` with the same fields; or choose another name.',
        details: { schedule: spec.name, version: schedule.version, changed },
      },
    )
  }
  if (answer.answer === 'version-differs') {
    const isOther = ifId !== undefined && ifId !== schedule.id
    const differs = isOther
      ? `was deleted and created again: its id is ${schedule.id}, not ${ifId}`
      : `has version ${schedule.version}, not ${ifVersion}`
    throw new BelfryError('conflict', `${subject} ${differs}.`, {
      hint: 'Read its current version, and decide again.',
      details: { schedule: spec.name, version: schedule.version, ...(isOther && { id: schedule.id }), changed },
    })
  }
  return {
    answer: answer.answer,
    ...changes,
    inWords: scheduleInWords(definitionOf(schedule.spec), context.kinds, context.fields.schedule),
    schedule: scheduleOf(schedule),
    // A schedule without a queue uses `default`, whose ceiling is known.
    ...(answer.queueCreated === true &&
      spec.queue !== undefined && { queueCreated: createdQueue(context, spec.queue) }),
    // Taken from the step's answer, not from a later read: a dry run leaves nothing to read.
    next: await readUpcoming(store, { now, schedule, count: nextCount }),
  }
}

/** An agent writes only over the version that it was checked against: what a person bounded meanwhile is not overwritten. */
function asJudged({ mode, before }: Commit, seen: Pick<PutOptions, 'ifVersion' | 'ifId'>) {
  if (before === null) return { mode: 'create' as const }
  // The name of a finished task is free: the new schedule has no version of it.
  if (before.spec.task !== undefined) return { mode, ...seen }
  return { mode, ...seen, ifVersion: seen.ifVersion ?? before.version }
}

/** A removed payload counts too: the request then has another body. */
function isOtherPayload(before: ScheduleSpec, after: ScheduleSpec): boolean {
  return JSON.stringify(before.payload) !== JSON.stringify(after.payload)
}

/** The changed fields, by input name. The store supplies the previous version where we have not read it. */
async function changesOf(
  { store }: OperationContext,
  { answer, schedule }: PutAnswer,
  before: ScheduleView | null,
  spec: ScheduleSpec,
): Promise<Changes> {
  if (answer === 'unchanged') return { changed: [], was: {} }
  if (answer === 'created') return { changed: Object.keys(definitionOf(schedule.spec)), was: {} }
  if (answer !== 'updated') return changesBetween(schedule.spec, spec)
  const { version } = schedule
  if (before?.version === version - 1) return changesBetween(before.spec, schedule.spec)
  const versions = await store.look(scheduleVersions, spec.name)
  const last = versions.find((one) => one.version === version - 1)
  return last === undefined ? { changed: [], was: {} } : changesBetween(last.content, schedule.spec)
}
