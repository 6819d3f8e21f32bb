import { formatDuration } from '../duration.ts'
import type { Timing } from '../timing/timing.ts'
import { periodFrom } from './due.ts'
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
/**
 * The hourly limits of planners and agents, for each schedule. A rule has no such limit, because it renews its hint at
 * every end.
 */
export const changesMax = 12
export const oneshotsMax = 6
const rateMs = hour

/** The change that an author requests. */
export type Wanted =
  | { readonly kind: 'interval'; readonly ms: number; readonly expiresAt: number }
  | { readonly kind: 'oneshot'; readonly at: number; readonly expiresAt: number; readonly apartMs?: number | undefined }
  /** Without `until` the pause would last until the schedule is resumed. */
  | { readonly kind: 'pause'; readonly until?: number | undefined }
  | { readonly kind: 'clear' }

export interface BoundsInput {
  readonly now: number
  readonly by: AuthorKind
  readonly wanted: Wanted
  /** A run of the schedule ends in this transaction; its state does not include that end yet. */
  readonly isAtEnd?: boolean | undefined
  /** The least time between two occurrences that the namespace allows; it bounds persons too. */
  readonly everyMinMs?: number | undefined
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

/** A value that a bound changed. */
export interface Clamped {
  readonly field: 'every' | 'until'
  /** The requested value; `null`: without end. */
  readonly from: number | null
  readonly to: number
  readonly why: string
}

export type Bounds =
  | {
      readonly answer: 'allowed'
      readonly wanted: Wanted
      readonly clamped: Clamped | null
      /** The author's recent changes, this one included. */
      readonly steering: Steering | null
    }
  | { readonly answer: 'refused'; readonly refusal: Refusal }

/**
 * What an author may do to a schedule: the one place that knows the bounds of hints and pauses. `min`, `max` and the window also bound
 * the instants themselves, whatever was written: see the governor.
 */
export function hintBounds(asked: BoundsInput): Bounds {
  const { now, state } = asked
  const input = asked.isAtEnd === true ? { ...asked, state: { ...state, anchorAt: now, lastEndAt: now } } : asked
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
    return {
      code: 'invalid',
      field: 'expiresAt',
      problem: `is ${isoText(expiresAt)}`,
      expected: `after now, which is ${isoText(now)}`,
    }
  if (ttlMs < ttlMsMin)
    return { code: 'invalid', field: 'expiresAt', problem: `is in ${formatDuration(ttlMs)}`, expected }
  if (ttlMs > mostMs) return { code, field: 'expiresAt', problem: `is in ${formatDuration(ttlMs)}`, expected }
  if (wanted.kind === 'oneshot' && wanted.at >= expiresAt) {
    const before = `before the hint expires, which is at ${isoText(expiresAt)}`
    return { code: 'invalid', field: 'at', problem: `is ${isoText(wanted.at)}`, expected: before }
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
    return {
      code: 'invalid',
      field: 'until',
      problem: `is ${isoText(until)}`,
      expected: `after now, which is ${isoText(now)}`,
    }
  }
  if (isPerson(by)) return null
  const pausedAt = state.steering?.pausedAt
  if (pausedAt !== undefined && (state.lastEndAt === null || state.lastEndAt <= pausedAt)) {
    const problem = 'follows another pause, and no run has ended since'
    return { code: 'not-allowed', field: 'until', problem, expected: 'a pause after the next run has ended' }
  }
  if (pauseEndMax(input) > now) return null
  const problem = 'would delay its next run, which is due by `max`'
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

/** Each proposal may notify a person, so a planner proposes no more often than it may change something. */
export function proposed({
  now,
  steering,
}: {
  readonly now: number
  readonly steering: Steering | null
}):
  | { readonly answer: 'allowed'; readonly steering: Steering }
  | { readonly answer: 'refused'; readonly refusal: Refusal } {
  const proposals = withinHour(steering?.proposalsAt, now)
  if (proposals.length < changesMax) {
    return { answer: 'allowed', steering: { ...steering, proposalsAt: [...proposals, now] } }
  }
  const refusal: Refusal = {
    code: 'too-many-changes',
    field: 'author',
    problem: `has made ${changesMax} proposals for this schedule within an hour`,
    expected: `at most ${changesMax} an hour`,
    liftsAt: (proposals.at(-changesMax) ?? now) + rateMs,
  }
  return { answer: 'refused', refusal }
}

/** Models and people read these texts. An instant beyond the calendar is shown as its number. */
function isoText(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : String(ms)
}

/** A person wrote the rule, and the rule renews its hint at every end. */
function isRated(by: AuthorKind): boolean {
  return rankOf(by) === rankOf('planner')
}

function withinHour(instants: readonly number[] = [], now: number): readonly number[] {
  return instants.filter((at) => at > now - rateMs)
}

interface InBounds {
  readonly wanted: Wanted
  readonly clamped: Clamped | null
}

/** The namespace has the last word, also over `max`. */
function inBounds(input: BoundsInput): InBounds {
  const own = inBoundsOfAuthor(input)
  const { wanted } = own
  const { everyMinMs = 0 } = input
  if (wanted.kind === 'oneshot' && everyMinMs > 0) return { ...own, wanted: { ...wanted, apartMs: everyMinMs } }
  if (wanted.kind !== 'interval' || wanted.ms >= everyMinMs) return own
  const why = `the namespace allows one occurrence every ${formatDuration(everyMinMs)}`
  const from = own.clamped?.from ?? wanted.ms
  return { wanted: { ...wanted, ms: everyMinMs }, clamped: { field: 'every', from, to: everyMinMs, why } }
}

function inBoundsOfAuthor(input: BoundsInput): InBounds {
  const { by, wanted } = input
  if (isPerson(by) || wanted.kind === 'oneshot' || wanted.kind === 'clear') return { wanted, clamped: null }
  if (wanted.kind === 'pause') {
    const latest = pauseEndMax(input)
    const from = wanted.until ?? null
    if (from !== null && from <= latest) return { wanted, clamped: null }
    const why = `only a person may pause it for longer than ${formatDuration(steeredPauseMsMax)} or beyond \`max\``
    return { wanted: { kind: 'pause', until: latest }, clamped: { field: 'until', from, to: latest, why } }
  }
  const { least, most } = intervalBounds(input)
  const ms = Math.min(Math.max(wanted.ms, least), most)
  if (ms === wanted.ms) return { wanted, clamped: null }
  const why = `only a person may hint an interval outside ${formatDuration(least)} to ${formatDuration(most)}`
  return { wanted: { ...wanted, ms }, clamped: { field: 'every', from: wanted.ms, to: ms, why } }
}

/** The intervals for every author but a person: `min` first, then `max`, as everywhere. */
export function intervalBounds({ now, schedule }: Pick<BoundsInput, 'now' | 'schedule'>): {
  readonly least: number
  readonly most: number
} {
  const { timing, minMs = 0, maxMs } = schedule
  const period = periodFrom(timing, now) ?? steeredEveryMsMax
  const most = maxMs ?? Math.max(Math.min(steeredPeriodsMax * period, steeredEveryMsMax), minMs)
  return { least: Math.min(Math.max(minMs, steeredEveryMsMin), most), most }
}

/** The latest end of a pause for every author but a person. */
function pauseEndMax({ now, schedule: { maxMs }, state: { anchorAt } }: BoundsInput): number {
  const latest = now + steeredPauseMsMax
  return maxMs === undefined ? latest : Math.min(latest, anchorAt + maxMs)
}

/** The author's recent changes, this one included. */
function noted({ now, by, wanted, state: { steering } }: BoundsInput): Steering | null {
  if (isPerson(by)) return steering
  const pausedAt = wanted.kind === 'pause' ? { pausedAt: now } : {}
  if (!isRated(by)) return wanted.kind === 'pause' ? { ...steering, ...pausedAt } : steering
  const changesAt = [...withinHour(steering?.changesAt, now), now]
  const oneshotsAt = [...withinHour(steering?.oneshotsAt, now), ...(wanted.kind === 'oneshot' ? [now] : [])]
  return { ...steering, ...pausedAt, changesAt, ...(oneshotsAt.length > 0 && { oneshotsAt }) }
}
