import { BelfryError } from '../../core/error.ts'
import { formatId, parseId } from '../../core/id.ts'
import { matchEvent } from '../../core/json/matcher.ts'
import { payloadBytesMax } from '../../core/run/payload.ts'
import { checkActor, checkFields, checkText, jsonText, keyLengthMax, nameLengthMax } from '../../store/check.ts'
import { runTextOf } from '../../store/reads/find-run.ts'
import { enqueueFrom } from '../../store/runs/enqueue.ts'
import { cut } from '../../store/runs/result.ts'
import { makeNow } from '../../store/schedules/run-now.ts'
import { lockNamedSchedule } from '../../store/schedules/schedule-row.ts'
import { both, clockNow, freshIds, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { routineViewOf } from './read-routines.ts'
import type { EventOutcome, FireAnswer, NewEvent, RoutineView } from './routine-spec.ts'
import { eventColumns, eventIds, routineIds } from './routine-spec.ts'
import { lockRoutine } from './write-routine.ts'

/** One statement finds the first delivery and counts this one, so that no other process can come between the two. */
const noteRepeat = both(
  'routine event note repeat',
  `update belfry.routine_event set repeats = repeats + 1 where routine_id = $1 and delivery_id = $2
    returning ${eventColumns}`,
)
const insertEvent = both(
  'routine event insert',
  `insert into belfry.routine_event
    (id, ns, routine_id, delivery_id, at, type, outcome, reason, run_id, actor, door, payload, is_cut)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)`,
)

/** The part of a payload that is kept to see why an event did not match; its run has all of it. */
const keptBytesMax = 16 * 1024

interface Firing {
  readonly context: StoreContext
  readonly routine: RoutineView
  readonly event: NewEvent
  readonly deliveryId: string
  readonly now: number
}

interface Became {
  readonly outcome: EventOutcome
  readonly runId: string | null
  readonly reason: string | null
  readonly kept?: 'held' | 'overlap'
}

/**
 * Takes in an event. Only the routine decides what is done: the payload is passed on as data, and cannot choose a target, a queue
 * or a priority. A delivery is decided once. Otherwise a repeated delivery could run work that a pause or a matcher prevented the
 * first time.
 */
export function* fireRoutine(context: StoreContext, name: string, event: NewEvent): Step<FireAnswer> {
  const text = checked(event)
  const row = yield* lockRoutine(context, name)
  if (row === null || !isMeant(row, event)) return { answer: 'not-found' }
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const deliveryId = event.deliveryId ?? formatId(eventIds, id)
  const first = yield* one(noteRepeat, row.id as number, deliveryId)
  if (first !== undefined) return duplicateOf(first)
  const firing = { context, routine: routineViewOf(row), event, deliveryId, now }
  const { outcome, ...came } = yield* decided(firing)
  yield* writeEvent(firing, { id, routineId: row.id as number, text, outcome, ...came })
  return { answer: outcome, eventId: formatId(eventIds, id), deliveryId, ...came }
}
/** An event without a run is listed among the events of its routine. */
fireRoutine.audits = (answer: FireAnswer) =>
  answer.answer === 'fired' ? { detail: { run: answer.runId, delivery: answer.deliveryId } } : null
fireRoutine.rehearses = true as const

const eventFields: ReadonlySet<string> = new Set<keyof NewEvent>([
  'deliveryId',
  'type',
  'payload',
  'actor',
  'routineId',
])

function checked(event: NewEvent): string {
  checkFields(event, 'event', eventFields)
  if (event.deliveryId !== undefined) checkText(event.deliveryId, 'deliveryId', keyLengthMax)
  if (event.type !== undefined) checkText(event.type, 'type', nameLengthMax)
  checkActor(event.actor)
  return jsonText(event.payload, 'payload', payloadBytesMax)
}

function isMeant({ id }: Row, { routineId }: NewEvent): boolean {
  return routineId === undefined || routineId === formatId(routineIds, id as number)
}

function duplicateOf(first: Row): FireAnswer {
  return {
    answer: 'duplicate',
    eventId: formatId(eventIds, first.id as number),
    deliveryId: first.delivery_id as string,
    runId: runTextOf(first.run_id),
    reason: `the same delivery came before; its outcome was ${first.outcome}`,
  }
}

function* decided(firing: Firing): Step<Became> {
  const { routine, event } = firing
  if (routine.disabled !== null) return nothing('disabled', routine.disabled.reason)
  const { type = null, payload } = event
  const matching = matchEvent({ rules: routine.spec, event: { type, payload } })
  if (!matching.matched) return nothing('not-matched', matching.reason)
  if (routine.spec.schedule !== undefined) return yield* fireSchedule(firing, routine.spec.schedule)
  if (routine.spec.run !== undefined) return yield* enqueueRun(firing, routine.spec.run)
  throw new BelfryError('failure', `The stored routine ${routine.name} cannot be read.`)
}

function nothing(outcome: EventOutcome, reason: string): Became {
  return { outcome, runId: null, reason }
}

function* fireSchedule(firing: Firing, name: string): Step<Became> {
  const { context } = firing
  const schedule = yield* lockNamedSchedule(context, name)
  if (schedule === null) return nothing('schedule-gone', `schedule ${JSON.stringify(name)} does not exist any more`)
  const payload = handedOn(firing, schedule.spec.payload)
  const made = yield* makeNow(context, schedule, { force: false, payload, source: 'routine' })
  if (made.answer === 'overlap') return inTheWay(made.liveRunId, 'a run of the schedule has not ended')
  return { outcome: 'fired', runId: made.id, reason: null, ...(made.kept !== undefined && { kept: made.kept }) }
}

function* enqueueRun(
  firing: Firing,
  { payload: given, ...rest }: NonNullable<RoutineView['spec']['run']>,
): Step<Became> {
  const answer = yield* enqueueFrom(firing.context, 'routine', { ...rest, payload: handedOn(firing, given) })
  if (!answer.created) return inTheWay(answer.id, 'a live run has its dedupe key')
  return { outcome: 'fired', runId: answer.id, reason: null }
}

function inTheWay(runId: string, reason: string): Became {
  return { outcome: 'overlap', runId, reason }
}

/** The payload of a run: the event and its source, beside its own payload. */
function handedOn({ routine, event, deliveryId, now }: Firing, given: unknown): unknown {
  const payload = {
    routine: routine.name,
    delivery: deliveryId,
    type: event.type ?? null,
    receivedAt: new Date(now).toISOString(),
    event: event.payload,
    ...(given !== undefined && { given }),
  }
  jsonText(payload, 'payload', payloadBytesMax)
  return payload
}

interface Written extends Became {
  readonly id: number
  readonly routineId: number
  readonly text: string
}

function* writeEvent({ context, event, deliveryId, now }: Firing, written: Written): Step<void> {
  const { id, routineId, text, outcome, reason, runId } = written
  const isCut = Buffer.byteLength(text) > keptBytesMax
  const { name, door } = event.actor
  yield* run(
    insertEvent,
    ...[id, context.ns, routineId, deliveryId, now, event.type ?? null, outcome, reason],
    ...[parseId('run', runId), name, door, isCut ? JSON.stringify(cut(text, keptBytesMax)) : text, isCut ? 1 : 0],
  )
}
