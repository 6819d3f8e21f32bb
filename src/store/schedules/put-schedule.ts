import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import { payloadBytesMax } from '../../core/payload.ts'
import { defaultQueue } from '../../core/policy.ts'
import { type ScheduleSpec, scheduleProblems } from '../../core/schedule.ts'
import { writeAudit } from '../audit.ts'
import {
  canonicalJson,
  checkActor,
  checkChoice,
  checkFields,
  checkInteger,
  checkText,
  jsonText,
  keyLengthMax,
} from '../check.ts'
import type { StoreContext } from '../context.ts'
import { refuseManaged } from '../managed.ts'
import { ensureLanesOf } from '../notify-setting.ts'
import type { PutAnswer, PutOptions } from '../port.ts'
import { ensureQueues, type QueueRow } from '../queues/queue-row.ts'
import { scheduleViewOf } from '../reads/schedule.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { both, clockNow, freshIds, metOthers, one, type Step } from '../statement.ts'
import { fireSchedules } from './fire-due.ts'
import { writeLedger } from './ledger.ts'
import { liveRunsOf } from './live-run.ts'
import { passedBy, planned, unplanned } from './plan-schedule.ts'
import { isPaused, lockNamedSchedule, type ScheduleRow, saveSchedules } from './schedule-row.ts'
import { lastRunId } from './turn.ts'

const insertSchedule = both(
  'schedule insert',
  `insert into belfry.schedule
    (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at, timed_at, created_at, updated_at)
    values ($1, $2, $3, $4, 1, $5, '{}', $6, $7, $6, $6, $6)
    on conflict (ns, name) where deleted_at is null do nothing returning id`,
)
const updateSpec = both(
  'schedule update spec',
  'update belfry.schedule set spec = $2, version = $3, queue_id = $4, timed_at = $5, updated_at = $6 where id = $1',
)
const insertVersion = both(
  'schedule insert version',
  `insert into belfry.schedule_version (ns, schedule_id, version, spec, at, actor, reason, door)
    values ($1, $2, $3, $4, $5, $6, $7, $8)`,
)

const racesMax = 3

interface Put {
  readonly context: StoreContext
  readonly spec: ScheduleSpec
  readonly options: PutOptions
  readonly now: number
}

/** Creates a schedule or changes the one that has its name; a bad one is refused whole, with all that is wrong. */
export function* putSchedule(context: StoreContext, spec: ScheduleSpec, options: PutOptions): Step<PutAnswer> {
  checkOptions(options)
  refuseBad(spec, yield* clockNow(), spec)
  for (let races = 1; races <= racesMax; races++) {
    const found = yield* lockNamedSchedule(context, spec.name)
    const now = yield* clockNow()
    const put = { context, spec: checked(spec, now, found), options, now }
    const answer = found === null ? yield* create(put) : yield* change(put, found)
    // Somebody else has created it since we looked: it is there now, and the next look finds it.
    if (answer !== null) return answer
  }
  throw metOthers(`Schedule ${spec.name} was created and deleted ${racesMax} times while we looked.`)
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

/** The spec as it will be read back. Nothing of it is dropped: what JSON cannot say is refused, and the rest is judged. */
function checked(spec: ScheduleSpec, now: number, found: ScheduleRow | null): ScheduleSpec {
  refuseBad(spec, now, found?.spec)
  for (const field of ['payload', 'target', 'notify', 'options'] as const) {
    if (spec[field] !== undefined) jsonText(spec[field], field, payloadBytesMax)
  }
  const stored: ScheduleSpec = JSON.parse(jsonText(spec, 'schedule'))
  refuseBad(stored, now, found?.spec)
  return stored
}

function refuseBad(spec: ScheduleSpec, now: number, before: ScheduleSpec | undefined): void {
  const problems = scheduleProblems(spec, { now, before })
  const [first] = problems
  if (first === undefined) return
  const more = problems.length === 1 ? '' : ` (and ${problems.length - 1} more)`
  throw new BelfryError('invalid', `${first.field} ${first.problem}; expected: ${first.expected}${more}.`, {
    details: { problems },
  })
}

function* create(put: Put): Step<PutAnswer | null> {
  const { context, spec, options, now } = put
  const { ifVersion, ifId } = options
  if (ifVersion !== undefined || ifId !== undefined) {
    const what = ifVersion === undefined ? `the id ${ifId}` : `version ${ifVersion}`
    throw new BelfryError('not-found', `There is no schedule ${spec.name} that could have ${what}.`, {
      details: { schedule: spec.name },
    })
  }
  const { queue, isNew } = yield* queueOf(put)
  const [id] = (yield* freshIds(1)) as [number]
  const gridAnchorAt = spec.startAt ?? now
  const text = JSON.stringify(spec)
  const inserted = yield* one(insertSchedule, id, context.ns, spec.name, text, queue.id, now, gridAnchorAt)
  if (inserted === undefined) return null
  const row = planned(freshRow(put, id, queue.id), { now, lastRunId: null })
  yield* saveSchedules([row])
  yield* record(put, row, 'schedule.create', undefined)
  const created = isNew ? ({ queueCreated: true } as const) : {}
  return { answer: 'created', schedule: scheduleViewOf(row), changed: Object.keys(spec), ...created }
}

function freshRow({ context, spec, now }: Put, id: number, queueId: number): ScheduleRow {
  return {
    id,
    ns: context.ns,
    name: spec.name,
    spec,
    version: 1,
    queueId,
    disabledAt: null,
    disabledReason: null,
    pausedUntil: null,
    pausedReason: null,
    hints: {},
    failureCount: 0,
    runsCount: 0,
    lastPlannedAt: null,
    anchorAt: now,
    gridAnchorAt: spec.startAt ?? now,
    lastEndAt: null,
    lastSuccessAt: null,
    nextRunAt: null,
    nextDueAt: null,
    nextDecision: null,
    waitsFor: null,
    wakeAt: null,
    knownWakeAt: null,
    timedAt: now,
    managedBy: null,
    createdAt: now,
    updatedAt: now,
    deletedAt: null,
  }
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
  refuseUnasked(found, options)
  if (options.ifVersion !== undefined && options.ifVersion !== found.version) return answer('version-differs')
  if (options.mode === 'create') return answer('exists')

  const isRetimed = changed.includes('timing') || changed.includes('startAt')
  const settled = isRetimed ? yield* settleOldTiming(context, now, found) : found
  const { queue, isNew } = yield* queueOf(put)
  const version = found.version + 1
  const edited = { ...reanchored(settled, spec, changed, now), spec, version, queueId: queue.id, updatedAt: now }
  yield* one(updateSpec, found.id, JSON.stringify(spec), version, queue.id, edited.timedAt, now)
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const row = planned(edited, { now, lastRunId: lastRunId(edited, live) })
  yield* saveSchedules([row])
  yield* record(put, row, 'schedule.update', changed)
  return { answer: 'updated', schedule: scheduleViewOf(row), changed, ...(isNew && { queueCreated: true }) }
}

/** What somebody made by hand is not overwritten by a file that happens to use its name. */
function refuseUnasked({ name, managedBy }: ScheduleRow, { source, adopt = false }: PutOptions): void {
  if (source === undefined || managedBy !== null || adopt) return
  throw new BelfryError('conflict', `Schedule ${name} was made by hand and says something else than the file.`, {
    hint: 'Choose another name, or let the file take it over: `belfry apply --adopt`.',
    details: { schedule: name },
  })
}

function changedFields(before: ScheduleSpec, after: ScheduleSpec): string[] {
  const [old, fresh] = [before, after] as unknown as Record<string, unknown>[]
  const fields = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...fields].filter((field) => canonicalJson(old?.[field]) !== canonicalJson(fresh?.[field]))
}

/** What the old timing brought until now ends by the old spec: it fires if it is due, and no instant goes without an end. */
function* settleOldTiming(context: StoreContext, now: number, found: ScheduleRow): Step<ScheduleRow> {
  const isDue = found.wakeAt !== null && found.wakeAt <= now
  const fired = isDue ? (yield* fireSchedules(context, now, [found])).after.get(found.id) : undefined
  const current = fired ?? found
  const outcome = isPaused(current, now) ? 'paused' : 'edited'
  const { row, entries } = passedBy(current, { by: now, now, outcome })
  yield* writeLedger(now, entries)
  return unplanned(row)
}

/** A new timing begins now; a grid begins at the `startAt` that a person named, unless that is over. */
function reanchored(row: ScheduleRow, spec: ScheduleSpec, changed: readonly string[], now: number): ScheduleRow {
  const isNewStart = changed.includes('startAt')
  if (!changed.includes('timing') && !isNewStart) return row
  const { startAt } = spec
  const gridAnchorAt = startAt !== undefined && (isNewStart || startAt > now) ? startAt : now
  return { ...unplanned(row), timedAt: now, anchorAt: now, gridAnchorAt }
}

function* queueOf({ context, spec: { queue = defaultQueue, notify } }: Put): Step<{ queue: QueueRow; isNew: boolean }> {
  const { queues, created } = yield* ensureQueues(context, [queue])
  yield* ensureLanesOf(context.ns, notify)
  return { queue: queues.get(queue) as QueueRow, isNew: created.has(queue) }
}

function* record({ context, spec, options, now }: Put, row: ScheduleRow, verb: string, changed?: string[]): Step<void> {
  const { actor, reason } = options
  const { name, door } = actor
  yield* one(insertVersion, row.ns, row.id, row.version, JSON.stringify(spec), now, name, reason ?? null, door)
  const detail = { version: row.version, ...(changed && { changed }), ...(reason !== undefined && { reason }) }
  yield* writeAudit(context, { actor, verb, subject: `schedule ${row.name}`, detail }, now)
}
