import { isClosed } from '../schedule/calendar-bound.ts'
import { periodMs as periodMsAt, type SpreadSchedule, spreadDueAt } from '../schedule/due.ts'
import type { GovernedSchedule } from '../schedule/governor.ts'
import { type CountedRange, occurrences, type PlannedState } from './occurrences.ts'
import { type CatchUpConfig, catchUpDefault, catchUpShareMs } from './spread.ts'

export type MissedMode = 'skip' | 'once' | 'all'

export interface LateSchedule extends GovernedSchedule, SpreadSchedule {
  readonly missed?: MissedMode | undefined
  readonly maxLatenessMs?: number | undefined
  /** For prompt tasks: a missed one-shot does not fire, and waits for a person's decision. */
  readonly asksWhenMissed?: boolean | undefined
  readonly catchUp?: CatchUpConfig | undefined
}

export interface LateState extends PlannedState {
  /** When the planned occurrence is due, where the plan has already decided it; hints, for example, are not spread. */
  readonly nextDueAt?: number | undefined
}

export interface MissedInput {
  readonly now: number
  readonly schedule: LateSchedule
  readonly state: LateState
}

export interface LateOccurrence {
  readonly plannedAt: number
  readonly dueAt: number
  readonly lateMs: number
  readonly isMissed: boolean
  readonly action: 'fire' | 'skip' | 'ask'
  readonly reason: 'on-time' | 'late' | 'missed' | 'lateness' | 'paused' | 'calendar' | 'max-runs'
  /** When a fired occurrence may start: at once, or after its catch-up spread. */
  readonly notBefore: number | null
}

export interface Missed {
  /** Oldest first, which is the order to fire in. */
  readonly occurrences: readonly LateOccurrence[]
  /** Occurrences before the listed ones; none of them fires. */
  readonly before: (CountedRange & { readonly reason: 'missed' | 'lateness' | 'paused' }) | null
}

/** How many missed occurrences are caught up; older ones are counted in the ledger. */
export const missedListMax = 100
/** An occurrence that is late by at most this is merely late: it is not missed, and no lateness rule applies. */
export const merelyLateMs = 60_000
const latenessMsMax = 86_400_000

/**
 * Decides the outcome of each occurrence that is due by now.
 *
 * An occurrence is missed when it is over a minute late or when a later one is due already. Under `once` the newest due
 * occurrence stands for all of them: when that one is merely late it runs anyway, and a second run for those before it would only
 * do the same work twice.
 */
export function missed({ now, schedule, state }: MissedInput): Missed {
  const { listed, before } = occurrences({ now: latestNominal(now, schedule), schedule, state, listMax: missedListMax })
  const due = listed.map((plannedAt) => timed(plannedAt, { now, schedule, state })).filter((one) => one.dueAt <= now)
  const newest = due.findLast((one) => !isPassed(one, { schedule, state }))
  const judged = due.map((one) => judge(one, one === newest, { now, schedule, state }))
  const firing = withinMaxRuns(judged, schedule, state)
  return {
    occurrences: withCatchUp(firing, schedule, now),
    before: before === null ? null : { ...before, reason: rangeReason(before.to, { now, schedule, state }) },
  }
}

/** The planned occurrence was planned for open hours; a later one may fall into closed ones. */
function isPassed(
  { plannedAt }: TimedOccurrence,
  { schedule, state }: Pick<MissedInput, 'schedule' | 'state'>,
): boolean {
  return plannedAt !== state.nextRunAt && isClosed(plannedAt, schedule)
}

/**
 * How late an occurrence may be: by default its period, and at most a day. A fixed delay has no later occurrence that would stand
 * for a late one: skipping it would only postpone it by another interval.
 */
export function maxLatenessMs({ schedule, periodMs }: { schedule: LateSchedule; periodMs: number | null }): number {
  if (schedule.maxLatenessMs !== undefined) return schedule.maxLatenessMs
  // Of several missed occurrences all but the newest are later than one period, so that limit would defeat
  // `missed: all`.
  if (schedule.missed === 'all' || periodMs === null || isFixedDelay(schedule)) return latenessMsMax
  return Math.min(periodMs, latenessMsMax)
}

function isFixedDelay({ timing }: LateSchedule): boolean {
  return timing.everyMs !== undefined && timing.from !== 'start'
}

interface TimedOccurrence {
  readonly plannedAt: number
  readonly dueAt: number
  readonly lateMs: number
  readonly periodMs: number | null
}

function timed(plannedAt: number, { now, schedule, state }: MissedInput): TimedOccurrence {
  const periodMs = periodMsAt(schedule.timing, plannedAt)
  const settledDueAt = plannedAt === state.nextRunAt ? state.nextDueAt : undefined
  const due = settledDueAt ?? spreadDueAt(plannedAt, schedule)
  return { plannedAt, dueAt: due, lateMs: Math.max(0, now - due), periodMs }
}

function judge(one: TimedOccurrence, isNewest: boolean, input: MissedInput): LateOccurrence {
  const { schedule } = input
  const { plannedAt, dueAt: due, lateMs, periodMs } = one
  const isMissed = !isNewest || lateMs > merelyLateMs
  const end = (action: LateOccurrence['action'], reason: LateOccurrence['reason']): LateOccurrence => {
    return { plannedAt, dueAt: due, lateMs, isMissed, action, reason, notBefore: action === 'fire' ? input.now : null }
  }
  if (isPaused(input)) return end('skip', 'paused')
  if (isPassed(one, input)) return end('skip', 'calendar')
  if (!isMissed) return end('fire', lateMs === 0 ? 'on-time' : 'late')
  const mode = schedule.missed ?? 'once'
  if (mode === 'skip') return end('skip', 'missed')
  if (schedule.timing.at !== undefined && schedule.asksWhenMissed === true) return end('ask', 'missed')
  if (mode === 'once' && !isNewest) return end('skip', 'missed')
  return lateMs > maxLatenessMs({ schedule, periodMs }) ? end('skip', 'lateness') : end('fire', 'missed')
}

function rangeReason(newestAt: number, input: MissedInput): 'missed' | 'lateness' | 'paused' {
  if (isPaused(input)) return 'paused'
  if (input.schedule.missed !== 'all') return 'missed'
  const { lateMs, periodMs } = timed(newestAt, input)
  return lateMs > maxLatenessMs({ schedule: input.schedule, periodMs }) ? 'lateness' : 'missed'
}

function isPaused({ now, schedule, state }: MissedInput): boolean {
  return schedule.enabled === false || (state.pausedUntil !== undefined && state.pausedUntil > now)
}

/** A one-shot may be due before its nominal instant, so the search reaches that far ahead. */
function latestNominal(now: number, { timing, spread }: LateSchedule): number {
  return timing.at === undefined || spread === undefined ? now : now + spread.oneShotMaxMs
}

function withinMaxRuns(
  judged: readonly LateOccurrence[],
  { maxRuns }: LateSchedule,
  { runsCount = 0 }: LateState,
): readonly LateOccurrence[] {
  if (maxRuns === undefined) return judged
  let left = Math.max(0, maxRuns - runsCount)
  return judged.map((one) => {
    if (one.action !== 'fire' || left-- > 0) return one
    return { ...one, action: 'skip', reason: 'max-runs', notBefore: null }
  })
}

function withCatchUp(
  judged: readonly LateOccurrence[],
  { id, catchUp: config = catchUpDefault }: LateSchedule,
  now: number,
): readonly LateOccurrence[] {
  const isCatchingUp = (one: LateOccurrence) => one.action === 'fire' && one.isMissed
  if (judged.filter(isCatchingUp).length < config.catchUpMin) return judged
  return judged.map((one) => {
    return isCatchingUp(one)
      ? { ...one, notBefore: now + catchUpShareMs({ id, plannedAt: one.plannedAt, config }) }
      : one
  })
}
