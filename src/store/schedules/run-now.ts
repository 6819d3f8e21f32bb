import { forcedCalendar } from '../../core/hold.ts'
import { formatId } from '../../core/id.ts'
import { payloadBytesMax } from '../../core/run/payload.ts'
import { overlapDecision, standsBehind } from '../../core/schedule/overlap.ts'
import { jsonText } from '../check.ts'
import type { RunNowAnswer, RunSource } from '../port.ts'
import { admit } from '../runs/admit.ts'
import { cancelRuns } from '../runs/cancel-runs.ts'
import { arrivalOf } from '../runs/enqueue.ts'
import { writeRuns } from '../runs/run-row.ts'
import { clockNow, freshIds, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { type LiveRunRow, listLiveRuns, liveRunsOf } from './live-run.ts'
import { askForWork, runOf, type Work, workOf } from './occurrence-run.ts'
import { lockNamedSchedule, type ScheduleRow, setsAside } from './schedule-row.ts'

/**
 * Makes a run of a schedule on request. The run is not an occurrence: it neither uses up a planned instant nor moves the next
 * one. The schedule's overlap rule applies, and the answer names the blocking run.
 */
export function* runNow(
  context: StoreContext,
  name: string,
  { force = false, beyondCalendars = false, payload }: RunNowOptions = {},
): Step<RunNowAnswer> {
  if (payload !== undefined) jsonText(payload, 'payload', payloadBytesMax)
  const schedule = yield* lockNamedSchedule(context, name)
  if (schedule === null) return { answer: 'not-found' }
  const isBeyond = beyondCalendars && schedule.calendars !== null
  const made = isBeyond ? beyond(schedule) : schedule
  const answer = yield* makeNow(context, made, { force, payload, source: 'run-now' })
  return isBeyond && answer.answer === 'created' ? { ...answer, beyondCalendars: true } : answer
}
runNow.audits = (answer: RunNowAnswer) => {
  if (answer.answer !== 'created') return null
  return { detail: { run: answer.id, ...(answer.beyondCalendars === true && { beyondCalendars: true }) } }
}

export interface RunNowOptions {
  /** Starts the run even if another run has not ended. */
  readonly force?: boolean
  /** Starts the run even if its calendars are closed. */
  readonly beyondCalendars?: boolean
  readonly payload?: unknown
}

/** The schedule, with its runs in the lane that closed calendars do not hold. */
function beyond(schedule: ScheduleRow): ScheduleRow {
  const options = { ...schedule.spec.options, calendar: [forcedCalendar] }
  return { ...schedule, spec: { ...schedule.spec, options } }
}

interface Wish {
  readonly force: boolean
  readonly payload: unknown
  readonly source: RunSource
}

/** Makes the run of a schedule that is locked already. */
export function* makeNow(context: StoreContext, schedule: ScheduleRow, wish: Wish): Step<RunMadeNow> {
  const now = yield* clockNow()
  const before = yield* liveOf(schedule)
  const { overlap, missed, queueMax } = schedule.spec
  const live = before.map(({ runId, isLeased }) => {
    return { id: formatId('run', runId), status: isLeased ? ('leased' as const) : ('ready' as const) }
  })
  const decision = overlapDecision({ overlap, missed, queueMax, live, cause: 'run-now', forced: wish.force })
  if (decision.action === 'refuse' || decision.action === 'skip') {
    return { answer: 'overlap', liveRunId: decision.because }
  }
  if (decision.action === 'make-and-cancel') {
    yield* cancelRuns(context, now, schedule, { reason: 'replaced', leased: true })
  }
  const inTheWay = standsBehind(schedule.spec) ? (yield* liveOf(schedule)).at(-1) : undefined
  return yield* make(context, schedule, { ...wish, now, waitsFor: inTheWay?.runId ?? null })
}

type RunMadeNow = Exclude<RunNowAnswer, { readonly answer: 'not-found' }>

function* liveOf({ id }: ScheduleRow): Step<LiveRunRow[]> {
  return (yield* liveRunsOf([id])).get(id) ?? []
}

function* make(
  context: StoreContext,
  schedule: ScheduleRow,
  { now, payload, source, waitsFor }: Wish & { readonly now: number; readonly waitsFor: number | null },
): Step<RunMadeNow> {
  const work = (yield* workOf(context, [schedule], yield* askForWork([schedule]))).get(schedule.id) as Work
  const [id] = (yield* freshIds(1)) as [number]
  const row = runOf(schedule, work, now, {
    id,
    occurrenceAt: null,
    dueAt: now,
    source,
    notBefore: null,
    lateAfter: null,
    waitsFor,
    decision: null,
    payload,
  })
  yield* writeRuns([row], { context, now, over: 'refused' })
  yield* listLiveRuns([{ ns: schedule.ns, scheduleId: schedule.id, id }])
  const isHeld = setsAside(schedule, now)
  const kept = isHeld ? 'held' : waitsFor === null ? null : 'overlap'
  yield* admit(now, [{ ...arrivalOf(row), kept, keyLimit: work.queue.policy?.maxConcurrentPerKey ?? null }])
  return { answer: 'created', id: formatId('run', id), ...(kept !== null && { kept }) }
}
