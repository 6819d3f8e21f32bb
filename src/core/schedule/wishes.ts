import { backedOffEveryMs } from '../timing/schedule-backoff.ts'
import { type EveryTiming, type Grid, gridOf } from '../timing/timing.ts'
import type { GovernorInput, OneshotHint, Source, TrailRule, TrailStep, Winner } from './governor.ts'
import { type AuthorKind, isPerson } from './hint-author.ts'

/** A candidate for the next instant, before the bounds are applied. */
export interface Wish {
  readonly by: Winner
  /** The requested instant; an instant in the past is compared as `now`. */
  readonly wishedAt: number
  readonly at: number
  /** The first instant that `min` allows. */
  readonly raisedAt: number
  readonly source: Source
  readonly waitsForEnd: boolean
  /** The grid that the candidate stays on. */
  readonly grid: Grid | null
  /** A hint that has to stay in the window of its schedule. */
  readonly isWindowed: boolean
}

/** The candidate of the schedule's own timing. */
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
    // Before the first occurrence `min` has nothing to measure from.
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

/** The candidate of the interval hint, while the hint is in force. */
export function intervalWish(input: GovernorInput, trail: TrailStep[]): Wish | null {
  const { now, state } = input
  const hint = state.hints?.interval
  if (hint === undefined) return null
  const wishedAt = (state.anchorAt ?? now) + hint.ms
  if (hint.expiresAt > now) return windowed(wish('interval-hint', wishedAt, 'ai-interval', true, input), hint, input)
  return ignored('interval-hint', wishedAt, 'the hint has expired', trail)
}

/** The candidate of the one-shot hint, while the hint is in force. */
export function oneshotWish(input: GovernorInput, trail: TrailStep[]): Wish | null {
  const hint = input.state.hints?.oneshot
  if (hint === undefined) return null
  if (hint.expiresAt <= input.now) return ignored('oneshot-hint', hint.at, 'the hint has expired', trail)
  const own = wish('oneshot-hint', hint.at, 'ai-oneshot', false, input)
  return windowed({ ...own, raisedAt: Math.max(own.raisedAt, apartFrom(hint, input)) }, hint, input)
}

/** Hints of other ranks and the baseline may run first, so the distance is judged here, and not when the hint is given. */
function apartFrom({ apartMs }: OneshotHint, { state: { lastPlannedAt } }: GovernorInput): number {
  return apartMs === undefined || lastPlannedAt === undefined ? Number.NEGATIVE_INFINITY : lastPlannedAt + apartMs
}

/** A person's hint is not bound to the window. */
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

/** A candidate on a grid is measured from the instant planned before it, and moves along the grid only. */
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
 * The first instant that a grid may give: after `now`, and after every instant that was planned. The instant at which an
 * interval hint expires belongs to the baseline, which was not used while the hint was in force.
 */
function firstAllowed({ now, schedule, state }: GovernorInput): number {
  const fromAt = state.hints?.interval?.expiresAt === now ? now : now + 1
  return Math.max(fromAt, (state.lastPlannedAt ?? now - 1) + 1, schedule.startAt ?? now)
}
