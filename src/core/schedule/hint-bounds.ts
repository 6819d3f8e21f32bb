import { cron } from '../cron/cron.ts'
import { formatDuration } from '../duration.ts'
import type { Timing } from '../timing/timing.ts'
import { periodMs } from './due.ts'
import { type AuthorKind, isPerson, rankOf } from './hint-author.ts'
import type { Steering } from './steering.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** The bounds of every author. */
export const ttlMsMin = minute
export const ttlMsMax = 30 * day
/** The bounds of every author but a person. */
export const steeredTtlMsMax = day
export const steeredEveryMsMin = 10 * second
export const steeredPauseMsMax = day
const steeredPeriodsMax = 10
const steeredEveryMsMax = day
/** The bounds of planners and agents, for each schedule and hour. A rule renews its hint at every end, and has none. */
export const changesMax = 12
export const oneshotsMax = 6
const rateMs = hour

/** What an author wants of a schedule. */
export type Wanted =
  | { readonly kind: 'interval'; readonly ms: number; readonly expiresAt: number }
  | { readonly kind: 'oneshot'; readonly at: number; readonly expiresAt: number }
  /** Without `until` it would last until it is resumed. */
  | { readonly kind: 'pause'; readonly until?: number | undefined }
  | { readonly kind: 'clear' }

export interface BoundsInput {
  readonly now: number
  readonly by: AuthorKind
  readonly wanted: Wanted
  readonly schedule: {
    readonly timing: Timing
    readonly minMs?: number | undefined
    readonly maxMs?: number | undefined
  }
  readonly state: {
    readonly anchorAt: number
    /** When the last occurrence that became a run ended. */
    readonly lastEndAt: number | null
    readonly steering: Steering | null
  }
}

/** Why something is refused: what was wrong, what would be right, and when the bound lifts, if it does. */
export interface Refusal {
  readonly code: 'invalid' | 'not-allowed' | 'too-many-changes'
  readonly field: 'kind' | 'expiresAt' | 'at' | 'until' | 'author'
  readonly problem: string
  readonly expected: string
  readonly liftsAt?: number | undefined
}

/** A value that a bound moved. */
export interface Clamped {
  readonly field: 'every' | 'until'
  /** The wanted value; `null`: without end. */
  readonly from: number | null
  readonly to: number
  readonly why: string
}

export type Bounds =
  | {
      readonly answer: 'allowed'
      readonly wanted: Wanted
      readonly clamped: Clamped | null
      /** What the author has done, with this. */
      readonly steering: Steering | null
    }
  | { readonly answer: 'refused'; readonly refusal: Refusal }

/**
 * What an author may do to a schedule: the one place that knows the bounds of hints and pauses. `min`, `max` and the window also bound
 * the instants themselves, whatever was written: see the governor.
 */
export function hintBounds(input: BoundsInput): Bounds {
  const refusal = refusalOf(input)
  if (refusal !== null) return { answer: 'refused', refusal }
  const { wanted, clamped } = inBounds(input)
  return { answer: 'allowed', wanted, clamped, steering: noted(input) }
}

function refusalOf(input: BoundsInput): Refusal | null {
  const { wanted } = input
  switch (wanted.kind) {
    case 'interval':
    case 'oneshot':
      return hintRefusal(input, wanted) ?? rateRefusal(input)
    case 'pause':
      return pauseRefusal(input, wanted) ?? rateRefusal(input)
    case 'clear':
      return rateRefusal(input)
  }
}

type Hint = Extract<Wanted, { kind: 'interval' | 'oneshot' }>

function hintRefusal({ now, by, schedule }: BoundsInput, wanted: Hint): Refusal | null {
  const { expiresAt } = wanted
  const code = isPerson(by) ? 'invalid' : 'not-allowed'
  const ttlMs = expiresAt - now
  const mostMs = isPerson(by) ? ttlMsMax : steeredTtlMsMax
  const expected = `a time to live from ${formatDuration(ttlMsMin)} to ${formatDuration(mostMs)}`
  if (ttlMs <= 0)
    return { code: 'invalid', field: 'expiresAt', problem: `is ${expiresAt}`, expected: `after now, which is ${now}` }
  if (ttlMs < ttlMsMin)
    return { code: 'invalid', field: 'expiresAt', problem: `is in ${formatDuration(ttlMs)}`, expected }
  if (ttlMs > mostMs) return { code, field: 'expiresAt', problem: `is in ${formatDuration(ttlMs)}`, expected }
  if (wanted.kind === 'oneshot' && wanted.at >= expiresAt) {
    const before = `before the hint expires, which is at ${expiresAt}`
    return { code: 'invalid', field: 'at', problem: `is ${wanted.at}`, expected: before }
  }
  if (wanted.kind === 'interval' && schedule.timing.at !== undefined) {
    return {
      code: 'invalid',
      field: 'kind',
      problem: 'is interval',
      expected: 'oneshot, because the schedule runs only once',
    }
  }
  return null
}

function pauseRefusal(input: BoundsInput, { until }: Extract<Wanted, { kind: 'pause' }>): Refusal | null {
  const { now, by, state } = input
  if (until !== undefined && until <= now) {
    return { code: 'invalid', field: 'until', problem: `is ${until}`, expected: `after now, which is ${now}` }
  }
  if (isPerson(by)) return null
  const pausedAt = state.steering?.pausedAt
  if (pausedAt !== undefined && (state.lastEndAt === null || state.lastEndAt <= pausedAt)) {
    const problem = 'follows another pause, and no run has ended since'
    return { code: 'not-allowed', field: 'until', problem, expected: 'a pause after the next run has ended' }
  }
  if (pauseEndMax(input) > now) return null
  const problem = 'would keep it from its next run, which `max` wants by now'
  return { code: 'not-allowed', field: 'until', problem, expected: 'a pause after the next run has ended' }
}

function rateRefusal({ now, by, wanted, state: { steering } }: BoundsInput): Refusal | null {
  if (!isRated(by)) return null
  const changes = withinHour(steering?.changesAt, now)
  const oneshots = wanted.kind === 'oneshot' ? withinHour(steering?.oneshotsAt, now) : []
  const isTooMany = changes.length >= changesMax
  if (!isTooMany && oneshots.length < oneshotsMax) return null
  const first = (isTooMany ? changes.at(-changesMax) : oneshots.at(-oneshotsMax)) ?? now
  const what = isTooMany ? `${changesMax} changes` : `${oneshotsMax} one-shot hints`
  return {
    code: 'too-many-changes',
    field: 'author',
    problem: `has made ${what} of this schedule within an hour`,
    expected: `at most ${what} an hour by planners and agents`,
    liftsAt: first + rateMs,
  }
}

/** A rule is written by a person, and renews its hint at every end. */
function isRated(by: AuthorKind): boolean {
  return rankOf(by) === rankOf('planner')
}

function withinHour(instants: readonly number[] = [], now: number): readonly number[] {
  return instants.filter((at) => at > now - rateMs)
}

function inBounds(input: BoundsInput): { readonly wanted: Wanted; readonly clamped: Clamped | null } {
  const { by, wanted } = input
  if (isPerson(by) || wanted.kind === 'oneshot' || wanted.kind === 'clear') return { wanted, clamped: null }
  if (wanted.kind === 'pause') {
    const latest = pauseEndMax(input)
    const from = wanted.until ?? null
    if (from !== null && from <= latest) return { wanted, clamped: null }
    const why = `only a person pauses it for longer than ${formatDuration(steeredPauseMsMax)} or beyond \`max\``
    return { wanted: { kind: 'pause', until: latest }, clamped: { field: 'until', from, to: latest, why } }
  }
  const { least, most } = intervalBounds(input)
  const ms = Math.min(Math.max(wanted.ms, least), most)
  if (ms === wanted.ms) return { wanted, clamped: null }
  const why = `only a person hints an interval outside ${formatDuration(least)} to ${formatDuration(most)}`
  return { wanted: { ...wanted, ms }, clamped: { field: 'every', from: wanted.ms, to: ms, why } }
}

/** The intervals for every author but a person: `min` first, then `max`, as everywhere. */
export function intervalBounds({ now, schedule }: Pick<BoundsInput, 'now' | 'schedule'>): {
  readonly least: number
  readonly most: number
} {
  const { timing, minMs = 0, maxMs } = schedule
  const firstAt = timing.cron === undefined ? now : cron(timing.cron, timing.zone).next(now)
  const period = (firstAt === null ? null : periodMs(timing, firstAt)) ?? steeredEveryMsMax
  const most = maxMs ?? Math.max(Math.min(steeredPeriodsMax * period, steeredEveryMsMax), minMs)
  return { least: Math.min(Math.max(minMs, steeredEveryMsMin), most), most }
}

/** The latest end of a pause for every author but a person. */
function pauseEndMax({ now, schedule: { maxMs }, state: { anchorAt } }: BoundsInput): number {
  const latest = now + steeredPauseMsMax
  return maxMs === undefined ? latest : Math.min(latest, anchorAt + maxMs)
}

/** What an author has done, with this change. */
function noted({ now, by, wanted, state: { steering } }: BoundsInput): Steering | null {
  if (isPerson(by)) return steering
  const pausedAt = wanted.kind === 'pause' ? { pausedAt: now } : {}
  if (!isRated(by)) return wanted.kind === 'pause' ? { ...steering, ...pausedAt } : steering
  const changesAt = [...withinHour(steering?.changesAt, now), now]
  const oneshotsAt = [...withinHour(steering?.oneshotsAt, now), ...(wanted.kind === 'oneshot' ? [now] : [])]
  return { ...steering, ...pausedAt, changesAt, ...(oneshotsAt.length > 0 && { oneshotsAt }) }
}
