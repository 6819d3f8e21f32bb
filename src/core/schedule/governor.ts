import type { OpeningHours } from '../opening/opening.ts'
import type { CalendarUse } from '../opening/opening-of-all.ts'
import type { Timing } from '../timing/timing.ts'
import { openFrom, windowFrom } from './calendar-bound.ts'
import { type AuthorKind, rankNames, rankOf } from './hint-author.ts'
import { baselineWish, intervalWish, oneshotWish, type Wish } from './wishes.ts'

export interface GovernedSchedule {
  readonly timing: Timing
  readonly minMs?: number | undefined
  readonly maxMs?: number | undefined
  readonly enabled?: boolean | undefined
  /** Nothing is planned before `startAt` or after `endAt`; both instants themselves are allowed. */
  readonly startAt?: number | undefined
  readonly endAt?: number | undefined
  /** The first occurrence at or after this instant is the last. */
  readonly expiresAt?: number | undefined
  readonly maxRuns?: number | undefined
  /** An `every` begins at once instead of after its first interval. */
  readonly startNow?: boolean | undefined
  /** Nothing is planned while one of them is closed. */
  readonly calendars?: readonly CalendarUse[] | undefined
  /** The minutes in which hints of rules, planners and agents may plan runs; hints of persons are free. */
  readonly window?: OpeningHours | undefined
}

export interface IntervalHint {
  readonly ms: number
  readonly expiresAt: number
  /** The kind of its author. Absent: a person. */
  readonly by?: AuthorKind | undefined
}

export interface OneshotHint {
  readonly at: number
  readonly expiresAt: number
  /** The least time after the occurrence before its run, where the namespace has such a quota. */
  readonly apartMs?: number | undefined
  /** The kind of its author. Absent: a person. */
  readonly by?: AuthorKind | undefined
}

export type RankedHint = ({ readonly kind: 'interval' } & IntervalHint) | ({ readonly kind: 'oneshot' } & OneshotHint)

/** The hints in force, at most one of each kind. */
export interface Hints {
  readonly interval?: IntervalHint | undefined
  readonly oneshot?: OneshotHint | undefined
  /** The hints of lower ranks. Each counts again when those above it have ended. */
  readonly outranked?: readonly RankedHint[] | undefined
}

/** The governor's memory of a schedule. A missing instant defaults to `now`. */
export interface GovernorState {
  readonly failureCount?: number | undefined
  readonly hints?: Hints | undefined
  readonly pausedUntil?: number | undefined
  /** When the last occurrence ended; before the first, when the schedule or its timing was written. */
  readonly anchorAt?: number | undefined
  /** The newest planned instant that became a run or an end in the ledger. */
  readonly lastPlannedAt?: number | undefined
  /** Where the grid of `from: start` begins: creation, or the last edit of `every`; if not given, `startAt`. */
  readonly gridAnchorAt?: number | undefined
  /** How many occurrences have become runs; `maxRuns` limits it. */
  readonly runsCount?: number | undefined
  /** The field that ended the schedule early. */
  readonly finished?: string | undefined
}

export const sources = [
  'baseline-cron',
  'baseline-interval',
  'baseline-once',
  'ai-interval',
  'ai-oneshot',
  'clamped-min',
  'clamped-max',
  'clamped-window',
  'clamped-calendar',
  'paused',
  'disabled',
  'none',
] as const
export type Source = (typeof sources)[number]

/** The rules of the governor, in the order in which it applies them. */
export const trailRules = [
  'enabled',
  'pause',
  'finished',
  'max-runs',
  'baseline',
  'backoff',
  'interval-hint',
  'oneshot-hint',
  'min',
  'max',
  'start-at',
  'last-planned',
  'window',
  'calendar',
  'end-at',
] as const
export type TrailRule = (typeof trailRules)[number]

export const trailEffects = ['won', 'lost', 'ignored', 'moved', 'stopped'] as const

/** One line of the reasoning: the rule, the instant it found, the resulting instant, and why. */
export interface TrailStep {
  readonly rule: TrailRule
  readonly from: number | null
  readonly at: number | null
  readonly effect: (typeof trailEffects)[number]
  readonly why: string
  /** The author of a hint that another outranks. */
  readonly by?: AuthorKind | undefined
}

export interface NextRun {
  readonly at: number | null
  readonly source: Source
  /**
   * Which candidate won, before the bounds were applied: the run of a one-shot uses it up, and hints are not
   * spread.
   */
  readonly winner: Winner | null
  /** Whether the winner is a fixed delay, which can be measured only once the occurrence before it has ended. */
  readonly waitsForEnd: boolean
  /** The instant at which time alone may change the answer: the end of a pause, or the first expiry of a hint. */
  readonly askAgainAt: number | null
  /**
   * The first instant of the schedule's own grid that is skipped because its calendars are closed; the next
   * run is after it.
   */
  readonly passesFrom?: number
  readonly trail: readonly TrailStep[]
}

export interface GovernorInput {
  readonly now: number
  readonly schedule: GovernedSchedule
  readonly state: GovernorState
}

export const winners = ['baseline', 'interval-hint', 'oneshot-hint'] as const
export type Winner = (typeof winners)[number]

/**
 * Decides when a schedule runs next, and why.
 *
 * Pause beats calendars, calendars beat bounds, bounds beat hints, hints beat the baseline. The answer depends on `now` and on the memory, never on earlier
 * calls, so calling again is harmless.
 */
export function nextRun(input: GovernorInput): NextRun {
  const { now, schedule, state } = input
  if (schedule.enabled === false) return stopped('disabled', null, 'enabled', 'the schedule is disabled')
  if (state.pausedUntil !== undefined && state.pausedUntil > now) {
    return stopped('paused', state.pausedUntil, 'pause', 'the schedule is paused until then')
  }
  if (state.finished !== undefined) {
    return stopped('none', null, 'finished', `the schedule has finished: ${state.finished}`)
  }
  if (schedule.maxRuns !== undefined && (state.runsCount ?? 0) >= schedule.maxRuns) {
    return stopped('none', null, 'max-runs', 'the schedule has had all its runs')
  }
  if (schedule.expiresAt !== undefined && (state.lastPlannedAt ?? Number.NEGATIVE_INFINITY) >= schedule.expiresAt) {
    return stopped('none', null, 'end-at', 'the schedule has expired, and its last occurrence has been planned')
  }
  const trail: TrailStep[] = []
  const base = baselineWish(input, trail)
  const interval = intervalWish(input, trail)
  const oneshot = oneshotWish(input, trail)
  noteOutranked(input, trail)
  const winner = choose({ base, interval, oneshot }, input, trail)
  const askAgainAt = firstExpiry(interval !== null, oneshot !== null, state.hints)
  const answer = bounded(winner, askAgainAt, input, trail)
  const passesFrom = interval === null && base?.grid != null ? base.raisedAt : null
  const passes = passesFrom !== null && answer.at !== null && passesFrom < answer.at && input.schedule.calendars?.length
  return passes ? { ...answer, passesFrom } : answer
}

function stopped(source: Source, at: number | null, rule: TrailRule, why: string): NextRun {
  const trail: TrailStep[] = [{ rule, from: null, at, effect: 'stopped', why }]
  return { at, source, winner: null, waitsForEnd: false, askAgainAt: at, trail }
}

interface Wishes {
  readonly base: Wish | null
  readonly interval: Wish | null
  readonly oneshot: Wish | null
}

/**
 * Compares the candidates after the bounds were applied. Compared before, a one-shot that `min` moves far could win over a
 * baseline that `min` does not move, and a hint to hurry would delay the schedule.
 */
function choose({ base, interval, oneshot }: Wishes, input: GovernorInput, trail: TrailStep[]): Wish | null {
  const isOutside = interval !== null && base !== null && waitsForWindow(interval, base, input)
  const beforeOneshot = isOutside ? base : (interval ?? base)
  const oneshotWins = oneshot !== null && (beforeOneshot === null || isEarlier(oneshot, beforeOneshot, input))
  const winner = oneshotWins ? oneshot : beforeOneshot
  if (base !== null) {
    const isOverridden = interval !== null && !isOutside
    note(base, winner, isOverridden ? 'an interval hint overrides the baseline' : 'the one-shot hint is earlier', trail)
  }
  if (interval !== null) {
    const lost = isOutside
      ? 'it has to wait for its window, and the baseline is earlier'
      : 'the one-shot hint is earlier'
    note(interval, winner, lost, trail)
  }
  if (oneshot !== null) note(oneshot, winner, 'it is not earlier than the other candidate', trail)
  return winner
}

/**
 * Where both are moved to the same instant, the earlier candidate beats a fixed delay, which has no nominal instant there. A
 * cron has one: if a waiting hint replaced it, its occurrence would never have an end.
 */
function isEarlier(a: Wish, b: Wish, input: GovernorInput): boolean {
  const [aAt, bAt] = [allowedAt(a, input), allowedAt(b, input)]
  return aAt < bAt || (aAt === bAt && b.waitsForEnd && a.at < b.at)
}

function allowedAt(wish: Wish, { schedule, state: { lastPlannedAt } }: GovernorInput): number {
  const { raisedAt, grid, isWindowed } = wish
  const { startAt } = schedule
  const at = Math.max(raisedAt, startAt ?? raisedAt, lastPlannedAt === undefined ? raisedAt : lastPlannedAt + 1)
  const opensAt = isWindowed ? windowFrom(at, schedule) : openFrom(at, schedule, grid)
  return opensAt ?? Number.POSITIVE_INFINITY
}

/**
 * Whether the window moves an interval hint after the baseline, which has no window. If such a hint overrode the baseline, a hint
 * to hurry would silence the schedule until the window opens.
 */
function waitsForWindow(interval: Wish, base: Wish, input: GovernorInput): boolean {
  if (!interval.isWindowed) return false
  const at = allowedAt(interval, input)
  if (at === allowedAt({ ...interval, isWindowed: false }, input)) return false
  const baseAt = bounded(base, null, input, []).at
  return baseAt !== null && baseAt < at
}

/** A hint that another hint outranks is listed as lost. */
function noteOutranked({ now, state }: GovernorInput, trail: TrailStep[]): void {
  for (const hint of state.hints?.outranked ?? []) {
    if (hint.expiresAt <= now) continue
    const above = state.hints?.[hint.kind]
    const rule = hint.kind === 'interval' ? 'interval-hint' : 'oneshot-hint'
    const from = hint.kind === 'interval' ? (state.anchorAt ?? now) + hint.ms : hint.at
    const why = `a hint of ${rankNames[rankOf(above?.by)]} outranks it`
    trail.push({ rule, from, at: null, effect: 'lost', why, by: hint.by })
  }
}

function note(mine: Wish, winner: Wish | null, lost: string, trail: TrailStep[]): void {
  const { by: rule, wishedAt: from, at } = mine
  if (mine !== winner) trail.push({ rule, from, at, effect: 'lost', why: lost })
  else
    trail.push({
      rule,
      from,
      at,
      effect: 'won',
      why: from < at ? 'it is overdue' : 'it is the earliest candidate in force',
    })
}

function bounded(
  winner: Wish | null,
  askAgainAt: number | null,
  { now, schedule, state }: GovernorInput,
  trail: TrailStep[],
): NextRun {
  const none: NextRun = { at: null, source: 'none', winner: null, waitsForEnd: false, askAgainAt, trail }
  if (winner === null) return none
  const anchorAt = state.anchorAt ?? now
  const { maxMs, startAt, endAt } = schedule
  let at = winner.at
  let source = winner.source
  const move = (rule: TrailRule, to: number, why: string) => {
    trail.push({ rule, from: at, at: to, effect: 'moved', why })
    at = to
  }
  if (at < winner.raisedAt) {
    move('min', winner.raisedAt, 'it would come too soon after the previous run')
    source = 'clamped-min'
  }
  const latest = maxMs === undefined ? at : Math.max(now, anchorAt + maxMs)
  if (at > latest) {
    move('max', latest, 'it would come too long after the previous run')
    source = 'clamped-max'
  }
  if (startAt !== undefined && at < startAt) move('start-at', startAt, 'nothing is planned before the schedule begins')
  if (state.lastPlannedAt !== undefined && at <= state.lastPlannedAt) {
    move('last-planned', state.lastPlannedAt + 1, 'that instant has been planned already')
  }
  if (winner.isWindowed) {
    const windowAt = windowFrom(at, { window: schedule.window })
    if (windowAt === null) {
      trail.push({ rule: 'window', from: at, at: null, effect: 'stopped', why: 'its window does not open' })
      return none
    }
    if (windowAt > at) {
      move('window', windowAt, 'hints wait for its window to open')
      source = 'clamped-window'
    }
  }
  // A run that `max` moved has left its grid, and starts as soon as it may.
  const grid = source === 'clamped-max' ? null : winner.grid
  const opensAt = winner.isWindowed ? windowFrom(at, schedule) : openFrom(at, schedule, grid)
  if (opensAt === null) {
    trail.push({ rule: 'calendar', from: at, at: null, effect: 'stopped', why: 'its calendars are not open then' })
    return none
  }
  if (opensAt > at) {
    move('calendar', opensAt, 'its calendars are closed until then')
    source = 'clamped-calendar'
  }
  if (endAt !== undefined && at > endAt) {
    trail.push({ rule: 'end-at', from: at, at: null, effect: 'stopped', why: 'the schedule ends before that' })
    return none
  }
  return { at, source, winner: winner.by, waitsForEnd: winner.waitsForEnd, askAgainAt, trail }
}

function firstExpiry(interval: boolean, oneshot: boolean, hints: Hints | undefined): number | null {
  const intervalAt = interval ? (hints?.interval?.expiresAt ?? null) : null
  const oneshotAt = oneshot ? (hints?.oneshot?.expiresAt ?? null) : null
  if (intervalAt === null || oneshotAt === null) return intervalAt ?? oneshotAt
  return Math.min(intervalAt, oneshotAt)
}
