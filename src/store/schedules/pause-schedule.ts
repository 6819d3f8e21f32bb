import { beforePause } from '../../core/schedule/before-pause.ts'
import { type Author, isPerson } from '../../core/schedule/hint-author.ts'
import type { Clamped, Refusal, Wanted } from '../../core/schedule/hint-bounds.ts'
import { endsOf, expiredHints, withoutHints } from '../../core/schedule/hints.ts'
import { planned } from '../../core/schedule/next-plan.ts'
import { passedBy } from '../../core/schedule/passed-by.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import {
  pausesAbove,
  pausesOf,
  withoutPauses,
  withoutPausesOf,
  withPauseOf,
  withPauses,
} from '../../core/schedule/steering.ts'
import { authorOf } from '../audit/actor.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkInstant, checkText } from '../check.ts'
import type { Actor } from '../port.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { fireBefore } from './fire-due.ts'
import { endHints } from './hint-row.ts'
import { holdRuns, releaseRuns } from './hold-runs.ts'
import { writePassed } from './ledger.ts'
import { liveRunsOf } from './live-run.ts'
import { lockNamedSchedule, type ScheduleRow, saveSchedules } from './schedule-row.ts'
import { refusalError } from './set-hint.ts'
import { callSteered } from './steer-others.ts'
import { boundsOf, type Refused, withEpoch } from './steer-schedule.ts'

/** Pauses a schedule until an instant, or until it is resumed. From this commit on none of its runs starts; leased runs finish. */
export function* pauseSchedule(
  context: StoreContext,
  name: string,
  { until, reason, actor }: { until?: number; reason: string; actor?: Actor },
): Step<'paused' | 'not-found' | { readonly clamped: Clamped }> {
  checkText(reason, 'reason', reasonLengthMax)
  if (until !== undefined) checkInstant(until, 'until')
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return 'not-found'
  const now = yield* clockNow()
  const written = yield* writePause(found, {
    ...(until !== undefined && { until }),
    reason,
    author: authorOf(actor),
    now,
  })
  if (written.answer === 'refused') throw refusalError(written.refusal)
  if (actor !== undefined) {
    const detail = { reason, ...(written.until !== null && { until: written.until }) }
    yield* writeAudit(context, { actor, verb: 'schedule.pause', subject: `schedule ${name}`, detail }, now)
  }
  yield* callSteered(context, { id: found.id, name, how: 'paused', until: written.until ?? undefined, actor })
  return written.clamped === null ? 'paused' : { clamped: written.clamped }
}

export interface PauseWish {
  /** Absent: until it is resumed. */
  readonly until?: number
  readonly reason: string
  readonly author: Author
  readonly now: number
  /** A run of the schedule ends in this transaction: see `hintBounds`. */
  readonly isAtEnd?: boolean | undefined
}

export interface PauseWritten {
  readonly answer: 'paused'
  /** The schedule after the pause, as stored. */
  readonly row: ScheduleRow
  /** When this pause ends; `null`: when the schedule is resumed. Another pause may last longer. */
  readonly until: number | null
  readonly clamped: Clamped | null
}

/**
 * Pauses a locked schedule within the bounds of its author. It returns a refusal, and does not throw, if the author may not
 * pause.
 *
 * Each rank has its own pause, and the latest end counts: a short pause of a planner must not end a long one of a person, nor one
 * without end.
 */
export function* writePause(
  found: ScheduleRow,
  { until, reason, author, now, isAtEnd }: PauseWish,
): Step<PauseWritten | Refused> {
  const bounds = boundsOf(found, { by: author.kind, wanted: { kind: 'pause', until }, now, isAtEnd })
  if (bounds.answer === 'refused') return bounds
  const end = (bounds.wanted as Extract<Wanted, { kind: 'pause' }>).until
  const awake = yield* broughtToNow({ ...withEpoch(found, author), steering: bounds.steering }, now)
  const paused =
    end === undefined
      ? { ...awake, disabledAt: now, disabledReason: reason }
      : withPauseOf(awake, { by: author.kind, author: author.name, until: end, reason })
  return { answer: 'paused', ...(yield* savePaused(paused, now)), until: end ?? null, clamped: bounds.clamped }
}

function* savePaused(paused: ScheduleRow, now: number): Step<{ readonly row: ScheduleRow }> {
  const row = planned(paused, { now, lastRunId: null })
  yield* holdRuns(paused)
  yield* saveSchedules([row])
  return { row }
}

/** The pause that a schedule has because of another schedule. The reason distinguishes it from other pauses. */
export interface FollowedPause {
  readonly until?: number | undefined
  readonly reason: string
  /** The other schedule, which this one follows. */
  readonly author: string
}

/** Pauses a schedule together with another one. The schedule's own pauses stay: they neither end nor get shorter. */
export function* pauseBeside(
  context: StoreContext,
  name: string,
  { until, reason, author }: FollowedPause,
): Step<void> {
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return
  const now = yield* clockNow()
  if (until === undefined ? found.disabledAt !== null : until <= now) return
  const awake = yield* broughtToNow(withEpoch(found, { kind: 'person' }), now)
  const others = pausesOf(awake).filter((pause) => pause.reason !== reason)
  const paused =
    until === undefined
      ? { ...awake, disabledAt: now, disabledReason: reason }
      : withPauses(awake, [...others, { by: 'person', author, until, reason }])
  yield* savePaused(paused, now)
}

/** Ends the pause that a schedule has because of another one; its own pauses stay. */
export function* resumeBeside(context: StoreContext, name: string, reason: string): Step<void> {
  const found = yield* lockNamedSchedule(context, name)
  const now = yield* clockNow()
  if (found === null || !isPaused(found, now)) return
  const isDisabler = found.disabledReason === reason
  const others = pausesOf(found).filter((pause) => pause.reason !== reason)
  if (!isDisabler && others.length === pausesOf(found).length) return
  const disabled = isDisabler ? { disabledAt: null, disabledReason: null } : {}
  const row = withPauses({ ...withEpoch(found, { kind: 'person' }), ...disabled }, others)
  if (isPaused(row, now)) yield* saveSchedules([planned(row, { now, lastRunId: null })])
  else yield* endPause(found, now)
}

/** The schedule with all occurrences up to now recorded, as a worker would have recorded them. */
function* broughtToNow(found: ScheduleRow, now: number): Step<ScheduleRow> {
  if (found.wakeAt === null || found.wakeAt > now) return found
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const { row, entries, endedHints } = beforePause(found, now, live)
  yield* writePassed(now, row, entries)
  yield* endHints(endedHints)
  return row
}

/**
 * Ends at once the pauses of a schedule that the caller may end; a person may end all of them. Occurrences that passed meanwhile end
 * in the ledger and do not fire.
 */
export function* resumeSchedule(
  context: StoreContext,
  name: string,
  { actor }: { actor?: Actor } = {},
): Step<'resumed' | 'was-not-paused' | 'not-found'> {
  const found = yield* lockNamedSchedule(context, name)
  if (found === null) return 'not-found'
  if (found.disabledAt === null && found.pausedUntil === null) return 'was-not-paused'
  const now = yield* clockNow()
  const ended = yield* endPausesOf(context, found, { author: authorOf(actor), now })
  if (ended.answer === 'refused') throw refusalError(ended.refusal)
  if (actor !== undefined) {
    yield* writeAudit(context, { actor, verb: 'schedule.resume', subject: `schedule ${name}` }, now)
  }
  yield* callSteered(context, { id: found.id, name, how: 'resumed', actor })
  return 'resumed'
}

/** Ends the pauses of a locked schedule whose rank is that of the author or lower; a person also ends a pause without end. */
export function* endPausesOf(
  context: StoreContext,
  found: ScheduleRow,
  { author, now }: { readonly author: Author; readonly now: number },
): Step<{ readonly answer: 'resumed' } | Refused> {
  const isEnder = isPerson(author.kind)
  const above = pausesAbove(found, author).filter(({ until }) => until > now)
  const isKept = !isEnder && (found.disabledAt !== null || above.length > 0)
  if (isKept && above.length === pausesOf(found).length) {
    const [highest] = found.disabledAt === null ? above : []
    return { answer: 'refused', refusal: { ...notTheirs, ...(highest !== undefined && { liftsAt: highest.until }) } }
  }
  const row = withEpoch(found, author)
  // A pause that ended by itself since a worker last fired: later occurrences were not paused.
  if (!isPaused(found, now)) yield* fireBefore(context, now, row)
  else if (isKept) yield* saveSchedules([planned(withoutPausesOf(row, author), { now, lastRunId: null })])
  else yield* endPause(row, now)
  return { answer: 'resumed' }
}

const notTheirs: Refusal = {
  code: 'not-allowed',
  field: 'author',
  problem: 'may not end a pause of a higher rank',
  expected: 'a resume by a person, or by the author of the pause',
}

function* endPause(found: ScheduleRow, now: number): Step<void> {
  const { row, entries } = passedBy(found, { by: now, now, outcome: 'paused' })
  yield* writePassed(now, row, entries)
  const expired = expiredHints(row.hints, now)
  yield* endHints(endsOf(row.id, expired, now, 'expired'))
  const hints = withoutHints(row.hints, expired, now)
  const resumed = { ...withoutPauses(row), hints, disabledAt: null, disabledReason: null, nextDecision: null }
  const live = (yield* liveRunsOf([resumed.id])).get(resumed.id) ?? []
  yield* saveSchedules([planned(resumed, { now, lastRunId: lastRunId(resumed, live) })])
  yield* releaseRuns(now, resumed)
}
