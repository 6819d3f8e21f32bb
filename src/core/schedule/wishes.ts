import { backedOffEveryMs, type EveryTiming, type Grid, gridOf } from '../timing/timing.ts'
import type { GovernorInput, Source, TrailRule, TrailStep, Winner } from './governor.ts'
import { type AuthorKind, isPerson } from './hint-author.ts'

/** A wish for an instant, before the bounds. */
export interface Wish {
  readonly by: Winner
  /** The wished instant; one that has passed is due now, and competes as such. */
  readonly wishedAt: number
  readonly at: number
  /** The first instant that `min` allows. */
  readonly raisedAt: number
  readonly source: Source
  readonly waitsForEnd: boolean
  /** The grid that it stays on. */
  readonly grid: Grid | null
  /** A hint that has to stay in the window of its schedule. */
  readonly isWindowed: boolean
}

/** The wish of the schedule's own timing. */
export function baselineWish(input: GovernorInput, trail: TrailStep[]): Wish | null {
  const { timing } = input.schedule
  if (timing.everyMs !== undefined) return everyBaseline(timing, input, trail)
  if (timing.at !== undefined) return onceBaseline(timing.at, input, trail)
  if (timing.cron === undefined) return ignored('baseline', null, 'the schedule has no timing of its own', trail)
  const grid = gridFor(input)
  const at = grid?.atOrAfter(firstAllowed(input)) ?? null
  return gridWish(at, 'baseline-cron', grid, input, trail)
}

function everyBaseline(timing: EveryTiming, input: GovernorInput, trail: TrailStep[]): Wish | null {
  const { now, schedule, state } = input
  const { startAt } = schedule
  const source = 'baseline-interval'
  const grid = gridFor(input)
  const anchorAt = state.anchorAt ?? now
  const isFirst = state.lastPlannedAt === undefined
  if (isFirst && schedule.startNow === true) {
    const atOnce = wish('baseline', startAt ?? anchorAt, source, grid === null, input)
    // Before the first occurrence there is none that `min` could keep a distance from.
    return { ...atOnce, raisedAt: atOnce.at }
  }

  const waitMs = backedOffEveryMs({ everyMs: timing.everyMs, failureCount: state.failureCount })
  const backsOff = waitMs !== timing.everyMs
  if (grid === null) {
    const wishedAt = isFirst && startAt !== undefined && startAt >= anchorAt ? startAt : anchorAt + waitMs
    if (backsOff) noteBackoff(anchorAt + timing.everyMs, wishedAt, trail)
    return wish('baseline', wishedAt, source, true, input)
  }
  const allowedAt = firstAllowed(input)
  const backedOffAt = backsOff ? Math.max(allowedAt, (state.lastPlannedAt ?? anchorAt) + waitMs) : allowedAt
  const at = grid.atOrAfter(backedOffAt)
  if (backsOff) noteBackoff(grid.atOrAfter(allowedAt), at, trail)
  return gridWish(at, source, grid, input, trail)
}

function onceBaseline(at: number, input: GovernorInput, trail: TrailStep[]): Wish | null {
  const { lastPlannedAt } = input.state
  if (lastPlannedAt === undefined || at > lastPlannedAt) return wish('baseline', at, 'baseline-once', false, input)
  return ignored('last-planned', at, 'its only instant has been planned already', trail)
}

/** The wish of the interval hint, while it counts. */
export function intervalWish(input: GovernorInput, trail: TrailStep[]): Wish | null {
  const { now, state } = input
  const hint = state.hints?.interval
  if (hint === undefined) return null
  const wishedAt = (state.anchorAt ?? now) + hint.ms
  if (hint.expiresAt > now) return windowed(wish('interval-hint', wishedAt, 'ai-interval', true, input), hint, input)
  return ignored('interval-hint', wishedAt, 'the hint has expired', trail)
}

/** The wish of the one-shot hint, while it counts. */
export function oneshotWish(input: GovernorInput, trail: TrailStep[]): Wish | null {
  const hint = input.state.hints?.oneshot
  if (hint === undefined) return null
  if (hint.expiresAt > input.now)
    return windowed(wish('oneshot-hint', hint.at, 'ai-oneshot', false, input), hint, input)
  return ignored('oneshot-hint', hint.at, 'the hint has expired', trail)
}

/** What a person hints has no window. */
function windowed(wish: Wish, { by }: { readonly by?: AuthorKind | undefined }, { schedule }: GovernorInput): Wish {
  return { ...wish, isWindowed: schedule.window !== undefined && !isPerson(by) }
}

function wish(
  by: Winner,
  wishedAt: number,
  source: Source,
  waitsForEnd: boolean,
  { now, schedule, state }: GovernorInput,
): Wish {
  const at = Math.max(wishedAt, now)
  const raisedAt = schedule.minMs === undefined ? at : Math.max(at, (state.anchorAt ?? now) + schedule.minMs)
  return { by, wishedAt, at, raisedAt, source, waitsForEnd, grid: null, isWindowed: false }
}

/** A wish on a grid keeps its distance from the instant planned before it, and moves along the grid only. */
function gridWish(
  at: number | null,
  source: Source,
  grid: Grid | null,
  { now, schedule, state }: GovernorInput,
  trail: TrailStep[],
): Wish | null {
  const earliest = (state.lastPlannedAt ?? state.anchorAt ?? now) + (schedule.minMs ?? 0)
  const raisedAt =
    at === null || at >= earliest || schedule.minMs === undefined ? at : (grid?.atOrAfter(earliest) ?? null)
  if (at === null || raisedAt === null) return ignored('baseline', at, 'the calendar has no further instant', trail)
  return { by: 'baseline', wishedAt: at, at, raisedAt, source, waitsForEnd: false, grid, isWindowed: false }
}

function ignored(rule: TrailRule, from: number | null, why: string, trail: TrailStep[]): null {
  trail.push({ rule, from, at: null, effect: 'ignored', why })
  return null
}

function noteBackoff(from: number | null, at: number | null, trail: TrailStep[]): void {
  trail.push({ rule: 'backoff', from, at, effect: 'moved', why: 'each failure in a row doubles the wait' })
}

/** The grid of a governed schedule, anchored by its memory. */
export function gridFor({ now, schedule: { timing, startAt }, state }: GovernorInput): Grid | null {
  const gridAnchorAt = state.gridAnchorAt ?? startAt ?? state.lastPlannedAt ?? state.anchorAt ?? now
  return gridOf({ timing, startAt, gridAnchorAt })
}

/**
 * The first instant a grid may name, after everything that has passed or was planned. The instant at which an interval hint
 * expires belongs to the baseline, which was not used while the hint counted.
 */
function firstAllowed({ now, schedule, state }: GovernorInput): number {
  const fromAt = state.hints?.interval?.expiresAt === now ? now : now + 1
  return Math.max(fromAt, (state.lastPlannedAt ?? now - 1) + 1, schedule.startAt ?? now)
}
