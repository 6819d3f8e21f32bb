import { callerKind } from '../../core/caller.ts'
import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import { useText } from '../../core/opening/closings.ts'
import { defaultQueue } from '../../core/queue/policy.ts'
import { endsOf, everyHint, withoutHints } from '../../core/schedule/hints.ts'
import { planned, unplanned } from '../../core/schedule/next-plan.ts'
import { passedBy } from '../../core/schedule/passed-by.ts'
import { refuseUnseen } from '../../core/schedule/refuse-unseen.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { freshState, isPaused, lastRunId } from '../../core/schedule/state.ts'
import { authorOf } from '../audit/actor.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { calendarsOf } from '../calendars/use-calendars.ts'
import {
  canonicalJson,
  checkActor,
  checkChoice,
  checkFields,
  checkInteger,
  checkText,
  invalid,
  keyLengthMax,
  nameLengthMax,
} from '../check.ts'
import { refuseManaged } from '../managed.ts'
import type { PutAnswer, PutOptions } from '../port.ts'
import { ensureQueues, type QueueRow } from '../queues/queue-row.ts'
import { scheduleViewOf } from '../reads/find-schedule.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { settingsNow } from '../settings/settings-row.ts'
import { both, clockNow, freshIds, metOthers, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { fireBefore } from './fire-due.ts'
import { freesName } from './free-name.ts'
import { endHints } from './hint-row.ts'
import { windowFor } from './hint-window.ts'
import { writePassed } from './ledger.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, type ScheduleRow, saveSchedules } from './schedule-row.ts'
import { withEpoch } from './steer-schedule.ts'

const insertSchedule = both(
  'schedule insert',
  `insert into belfry.schedule
    (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at, timed_at, created_at, updated_at, calendars, group_name)
    values ($1, $2, $3, $4, 1, $5, '{}', $6, $7, $6, $6, $6, $8, $9)
    on conflict (ns, name) where deleted_at is null do nothing returning id`,
)
const updateSpec = both(
  'schedule update spec',
  'update belfry.schedule set spec = $2, version = $3, queue_id = $4, timed_at = $5, updated_at = $6, calendars = $7, group_name = $8 where id = $1',
)
const insertVersion = both('schedule insert version', tables.schedule_version.insertOne())

const racesMax = 3

interface Put {
  readonly context: StoreContext
  readonly spec: ScheduleSpec
  readonly options: PutOptions
  readonly now: number
}

/** Creates a schedule or changes the one of its name. The caller has validated the spec. */
export function* putSchedule(context: StoreContext, given: ScheduleSpec, options: PutOptions): Step<PutAnswer> {
  checkOptions(options)
  checkTexts(given)
  // The spec as it will be read back, without undefined fields: otherwise a stored spec would
  // differ from the same spec as given.
  const spec: ScheduleSpec = JSON.parse(JSON.stringify(given))
  for (let races = 1; races <= racesMax; races++) {
    const named = yield* lockNamedSchedule(context, spec.name)
    const now = yield* clockNow()
    const put = { context, spec, options, now }
    const found = named !== null && (yield* freesName(named, spec, now)) ? null : named
    const answer = found === null ? yield* create(put) : yield* change(put, found)
    // Another caller created it in between: the next try finds it.
    if (answer !== null) return answer
  }
  throw metOthers(`Schedule ${spec.name} was created and deleted ${racesMax} times during the request.`)
}
putSchedule.rehearses = true as const

const optionFields: ReadonlySet<string> = new Set<keyof PutOptions>([
  'mode',
  'actor',
  'reason',
  'ifVersion',
  'ifId',
  'source',
  'adopt',
])

function checkOptions(options: PutOptions): void {
  checkFields(options, 'options', optionFields)
  checkChoice(options.mode, 'mode', ['create', 'put'])
  checkActor(options.actor)
  if (options.reason !== undefined) checkText(options.reason, 'reason', reasonLengthMax)
  if (options.ifVersion !== undefined) checkInteger(options.ifVersion, 'ifVersion', 1, Number.MAX_SAFE_INTEGER)
  if (options.ifId !== undefined) checkText(options.ifId, 'ifId', keyLengthMax)
}

/** Refuses text that the two databases would store differently, or not at all. The caller has validated everything else. */
function checkTexts({ name, queue, concurrencyKey, description }: ScheduleSpec): void {
  checkText(name, 'name', nameLengthMax)
  if (queue !== undefined) checkText(queue, 'queue', nameLengthMax)
  if (concurrencyKey !== undefined) checkText(concurrencyKey, 'concurrencyKey', keyLengthMax)
  if (description !== undefined) checkText(description, 'description', Number.MAX_SAFE_INTEGER)
}

function* create(put: Put): Step<PutAnswer | null> {
  const { context, spec, options, now } = put
  refuseUnseen(spec.name, options)
  const { queue, isNew } = yield* queueOf(put)
  const calendars = yield* calendarsOf(context, spec, queue)
  const [id] = (yield* freshIds(1)) as [number]
  const gridAnchorAt = spec.startAt ?? now
  const text = JSON.stringify(spec)
  const inserting = [
    id,
    context.ns,
    spec.name,
    text,
    queue.id,
    now,
    gridAnchorAt,
    textOf(calendars),
    groupIn(spec),
  ] as const
  if ((yield* one(insertSchedule, ...inserting)) === undefined) return null
  const settings = yield* settingsNow(context)
  const window = yield* windowFor(context, spec)
  const row = planned({ ...freshRow(put, id, queue.id), calendars, window, settings }, { now, lastRunId: null })
  refuseNever(row)
  yield* saveSchedules([row])
  yield* record(put, row, 'schedule.create', undefined)
  const created = isNew ? ({ queueCreated: true } as const) : {}
  return { answer: 'created', schedule: scheduleViewOf(row), changed: Object.keys(spec), ...created }
}

function freshRow({ context: { ns }, spec, now }: Put, id: number, queueId: number): ScheduleRow {
  const stored = {
    ns,
    name: spec.name,
    queueId,
    knownWakeAt: null,
    managedBy: null,
    heldBy: null,
    stoppedBy: null,
    updatedAt: now,
  }
  return { ...freshState(id, spec, now), ...stored }
}

function* change(put: Put, found: ScheduleRow): Step<PutAnswer> {
  const { context, spec, options, now } = put
  const changed = changedFields(found.spec, spec)
  const answer = (answer: 'unchanged' | 'exists' | 'version-differs') => {
    return { answer, schedule: scheduleViewOf(found), changed }
  }
  if (options.ifId !== undefined && options.ifId !== formatId('schedule', found.id)) return answer('version-differs')
  if (changed.length === 0) return answer('unchanged')
  refuseManaged({ noun: 'schedule', name: found.name, managedBy: found.managedBy }, options.source)
  refuseTask(found, spec)
  refuseUnasked(found, options)
  if (options.ifVersion !== undefined && options.ifVersion !== found.version) return answer('version-differs')
  if (options.mode === 'create') return answer('exists')

  const isRetimed = changed.includes('timing') || changed.includes('startAt')
  const settled = isRetimed ? yield* endIntervals(yield* settleOldTiming(context, now, found), spec, now) : found
  const { queue, isNew } = yield* queueOf(put)
  const version = found.version + 1
  const calendars = yield* calendarsOf(context, spec, queue)
  const finished = isRetimed || isOtherField(found, spec) ? null : found.finished
  const window = yield* windowFor(context, spec)
  const written = { spec, version, calendars, window, queueId: queue.id, updatedAt: now, finished }
  const edited = withEpoch({ ...reanchored(settled, spec, changed, now), ...written }, authorOf(options.actor))
  const updating = [
    JSON.stringify(spec),
    version,
    queue.id,
    edited.timedAt,
    now,
    textOf(calendars),
    groupIn(spec),
  ] as const
  yield* one(updateSpec, found.id, ...updating)
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const row = planned(edited, { now, lastRunId: lastRunId(edited, live) })
  refuseNever(row)
  yield* saveSchedules([row])
  yield* record(put, row, 'schedule.update', changed)
  return { answer: 'updated', schedule: scheduleViewOf(row), changed, ...(isNew && { queueCreated: true }) }
}

/**
 * Whether this write changes the field that ended the schedule early. Fields that runs have too are among the options.
 */
function isOtherField({ spec: before, finished }: ScheduleRow, after: ScheduleSpec): boolean {
  if (finished === null) return false
  const [old, fresh] = [before, after].map((spec) => ({ ...spec, ...spec.options }) as Record<string, unknown>)
  return canonicalJson(old?.[finished]) !== canonicalJson(fresh?.[finished])
}

function textOf(calendars: ScheduleRow['calendars']): string | null {
  return calendars === null ? null : JSON.stringify(calendars)
}

/** The group that the schedule names; the part that knows groups has checked it. */
function groupIn({ group = null }: { readonly group?: string | null | undefined }): string | null {
  return group
}

/** A schedule none of whose instants is in the open hours of its calendars would seem to work, and never run. */
function refuseNever({ nextDecision, calendars }: ScheduleRow): void {
  const stopped = nextDecision?.trail.find(({ effect }) => effect === 'stopped')
  if (stopped?.rule !== 'calendar') return
  const names = (calendars ?? []).map(useText).join(', ')
  const problem = `names ${names}, and no instant of the schedule is in the open hours`
  throw invalid('calendar', problem, 'hours in which the schedule runs')
}

/** The prompt, author and expiry of a task belong together; without them the schedule would go on as something else. */
function refuseTask({ name, spec: { task } }: ScheduleRow, after: ScheduleSpec): void {
  if (task === undefined || task.id === after.task?.id) return
  throw new BelfryError('conflict', `Schedule ${name} is the task ${task.id}.`, {
    hint: `Change it with \`belfry task edit ${task.id}\`, or choose another name.`,
    details: { schedule: name, task: task.id },
  })
}

/** A schedule made by hand is not overwritten by a file that happens to use its name. */
function refuseUnasked({ name, managedBy }: ScheduleRow, { source, adopt = false }: PutOptions): void {
  if (source === undefined || managedBy !== null || adopt) return
  throw new BelfryError('conflict', `Schedule ${name} was created by hand and differs from the file.`, {
    hint: 'Choose another name, or let the file take it over: `belfry apply --adopt`.',
    details: { schedule: name },
  })
}

function changedFields(before: ScheduleSpec, after: ScheduleSpec): string[] {
  const [old, fresh] = [before, after] as unknown as Record<string, unknown>[]
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].filter((field) => canonicalJson(old?.[field]) !== canonicalJson(fresh?.[field]))
}

/**
 * Occurrences of the old timing up to now are decided by the old spec: a due occurrence fires, and every instant
 * gets an end.
 */
function* settleOldTiming(context: StoreContext, now: number, found: ScheduleRow): Step<ScheduleRow> {
  const isDue = found.wakeAt !== null && found.wakeAt <= now
  const current = isDue ? yield* fireBefore(context, now, found) : found
  const outcome = isPaused(current, now) ? 'paused' : 'edited'
  const { row, entries } = passedBy(current, { by: now, now, outcome })
  yield* writePassed(now, row, entries)
  return unplanned(row)
}

/** A single instant has no interval to adapt: interval hints end with the timing for which they were given. */
function* endIntervals(row: ScheduleRow, { timing }: ScheduleSpec, now: number): Step<ScheduleRow> {
  const gone = timing.at === undefined ? [] : everyHint(row.hints).filter(({ kind }) => kind === 'interval')
  yield* endHints(endsOf(row.id, gone, now, 'edited'))
  return { ...row, hints: withoutHints(row.hints, gone, now) }
}

/** A new timing begins now; a grid begins at the given `startAt`, unless that has passed. */
function reanchored(row: ScheduleRow, spec: ScheduleSpec, changed: readonly string[], now: number): ScheduleRow {
  const isNewStart = changed.includes('startAt')
  if (!changed.includes('timing') && !isNewStart) return row
  const { startAt } = spec
  const gridAnchorAt = startAt !== undefined && (isNewStart || startAt > now) ? startAt : now
  return { ...unplanned(row), timedAt: now, anchorAt: now, gridAnchorAt }
}

function* queueOf({ context, spec }: Put): Step<{ queue: QueueRow; isNew: boolean }> {
  const { queue = defaultQueue } = spec
  const { queues, created } = yield* ensureQueues(context, [queue])
  for (const { written } of context.parts) if (written !== undefined) yield* written(context, spec)
  return { queue: queues.get(queue) as QueueRow, isNew: created.has(queue) }
}

function* record({ context, spec, options, now }: Put, row: ScheduleRow, verb: string, changed?: string[]): Step<void> {
  const { actor, reason } = options
  const { ns, id: scheduleId, version } = row
  const by = { at: now, actor: actor.name, door: actor.door, caller: callerKind(actor), reason: reason ?? null }
  yield* one(insertVersion, ...tables.schedule_version.tuple({ ns, scheduleId, version, spec, ...by }))
  const detail = { version, ...(changed && { changed }), ...(reason !== undefined && { reason }) }
  yield* writeAudit(context, { actor, verb, subject: `schedule ${row.name}`, detail }, now)
}
