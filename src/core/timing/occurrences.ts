import type { GovernorInput, GovernorState } from '../schedule/governor.ts'
import { lastInterval } from '../schedule/hints.ts'
import { gridFor } from '../schedule/wishes.ts'
import { backedOffEveryMs } from './schedule-backoff.ts'
import type { Grid } from './timing.ts'

/** The planned occurrence; the governor's memory does not contain it. */
export interface PlannedState extends GovernorState {
  /** The nominal instant that is planned next, if any. */
  readonly nextRunAt?: number | undefined
  /** Whether that plan was a fixed delay, after which there are no nominal instants. */
  readonly waitsForEnd?: boolean | undefined
}

export interface OccurrencesInput extends GovernorInput {
  readonly state: PlannedState
  /** How many of the newest are listed one by one. */
  readonly listMax: number
}

/** Occurrences counted together. A count that would take too long stops early and says so. */
export interface CountedRange {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly countIsAtLeast: boolean
}

export interface Occurrences {
  /** Nominal instants, oldest first. */
  readonly listed: readonly number[]
  readonly before: CountedRange | null
}

/**
 * A calendar can be counted only by walking it. This many steps cover every minute of a month and take some ten
 * milliseconds, so that one schedule cannot block a transaction.
 */
const countedStepsMax = 50_000

/**
 * Lists the nominal occurrences up to `now` that have not ended or become a run: the newest one by one, the rest counted.
 *
 * It searches back from `now`, so that the cost does not depend on how long no worker ran. The planned occurrence comes first
 * whatever the calendar says, because a hint or a bound may have moved it off the grid.
 */
export function occurrences({ listMax, ...input }: OccurrencesInput): Occurrences {
  const { now, schedule, state } = input
  const plannedAt = state.nextRunAt ?? soleInstant(input)
  const freedAt = gridFreedAt(state, now)
  const grid = freedAt === null ? null : gridFor(input)
  if (grid === null || freedAt === null)
    return { listed: plannedAt === null || plannedAt > now ? [] : [plannedAt], before: null }

  const { endAt = now, expiresAt = now } = schedule
  const untilAt = Math.min(now, endAt, expiresAt >= now ? now : (grid.atOrAfter(expiresAt) ?? now))
  const spacingMs = Math.max(1, schedule.minMs ?? 1)
  const afterAt = plannedAt ?? state.lastPlannedAt ?? state.anchorAt ?? now
  const oldestAt = Math.max(afterAt + spacingMs, schedule.startAt ?? afterAt, freedAt)
  const newestFirst: number[] = []
  let at = grid.atOrBefore(untilAt)
  for (; at !== null && at >= oldestAt && newestFirst.length < listMax; at = grid.atOrBefore(at - spacingMs)) {
    newestFirst.push(at)
  }
  const rest = at === null || at < oldestAt ? null : counted(grid, at, oldestAt, spacingMs)
  if (plannedAt === null || plannedAt > untilAt) return { listed: newestFirst.reverse(), before: rest }
  if (rest !== null)
    return { listed: newestFirst.reverse(), before: { ...rest, from: plannedAt, count: rest.count + 1 } }
  if (newestFirst.length < listMax) return { listed: [...newestFirst, plannedAt].reverse(), before: null }
  const alone: CountedRange = { from: plannedAt, to: plannedAt, count: 1, countIsAtLeast: false }
  return { listed: newestFirst.reverse(), before: alone }
}

/**
 * From when on the instants of the grid count. After a fixed delay there are no nominal instants, except when the delay was
 * the plan of an interval hint: from the expiry of the hint on, the baseline's grid counts again.
 */
function gridFreedAt({ waitsForEnd, hints }: PlannedState, now: number): number | null {
  if (waitsForEnd !== true) return Number.NEGATIVE_INFINITY
  const expiresAt = (hints && lastInterval(hints)?.expiresAt) ?? Number.POSITIVE_INFINITY
  return expiresAt <= now ? expiresAt : null
}

/** The one nominal instant of a schedule without a grid, when it has no plan. */
function soleInstant({
  schedule: { timing },
  state,
}: OccurrencesInput | Omit<OccurrencesInput, 'listMax'>): number | null {
  if (timing.at !== undefined) return timing.at > (state.lastPlannedAt ?? Number.NEGATIVE_INFINITY) ? timing.at : null
  if (timing.everyMs === undefined || timing.from === 'start' || state.anchorAt === undefined) return null
  return state.anchorAt + backedOffEveryMs({ everyMs: timing.everyMs, failureCount: state.failureCount })
}

function counted(grid: Grid, newestAt: number, oldestAt: number, spacingMs: number): CountedRange {
  if (grid.stepMs !== null) {
    const strideMs = Math.ceil(spacingMs / grid.stepMs) * grid.stepMs
    const strides = Math.floor((newestAt - oldestAt) / strideMs)
    return { from: newestAt - strides * strideMs, to: newestAt, count: strides + 1, countIsAtLeast: false }
  }
  let from = newestAt
  for (let count = 1; count < countedStepsMax; count += 1) {
    const before = grid.atOrBefore(from - spacingMs)
    if (before === null || before < oldestAt) return { from, to: newestAt, count, countIsAtLeast: false }
    from = before
  }
  return { from: grid.atOrAfter(oldestAt) ?? from, to: newestAt, count: countedStepsMax, countIsAtLeast: true }
}
