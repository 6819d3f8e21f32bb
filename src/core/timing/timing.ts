import { cron } from '../cron/cron.ts'

export interface CronTiming {
  readonly cron: string
  readonly zone: string
  readonly everyMs?: undefined
  readonly at?: undefined
}

export interface EveryTiming {
  readonly everyMs: number
  /** `end` is a fixed delay after each occurrence, `start` a fixed rate on a grid. */
  readonly from?: 'end' | 'start' | undefined
  readonly cron?: undefined
  readonly at?: undefined
}

export interface OnceTiming {
  readonly at: number
  readonly cron?: undefined
  readonly everyMs?: undefined
}

/** A schedule without its own timing: hints and people start its runs. */
export interface NoTiming {
  readonly cron?: undefined
  readonly everyMs?: undefined
  readonly at?: undefined
}

export type Timing = CronTiming | EveryTiming | OnceTiming | NoTiming

/** Whether the instants of a timing are fixed, whenever the runs end: those of a cron and of a fixed rate are. */
export function isOnGrid(timing: Timing): boolean {
  return timing.cron !== undefined || (timing.everyMs !== undefined && timing.from === 'start')
}

/** The instants of a schedule's timing, whatever `now` is; both functions include the given instant. */
export interface Grid {
  atOrAfter(instant: number): number | null
  atOrBefore(instant: number): number | null
  /** The distance between neighbouring instants, where it is constant. */
  readonly stepMs: number | null
}

export interface GridInput {
  readonly timing: Timing
  readonly startAt?: number | undefined
  /** Where the grid of a fixed rate begins. */
  readonly gridAnchorAt: number
}

/**
 * The grid of a cron or a fixed rate. A fixed delay and a single instant have none.
 *
 * The anchor of a fixed rate is a point of its grid only where `startAt` named it: a creation or an edit is not an occurrence.
 */
export function gridOf({ timing, startAt, gridAnchorAt }: GridInput): Grid | null {
  if (timing.cron !== undefined) return cronGrid(timing)
  if (timing.everyMs === undefined || timing.from !== 'start') return null
  return rateGrid({ everyMs: timing.everyMs, startAt, gridAnchorAt })
}

function cronGrid({ cron: expression, zone }: CronTiming): Grid {
  const calendar = cron(expression, zone)
  return {
    atOrAfter: (instant) => calendar.next(instant - 1),
    atOrBefore: (instant) => calendar.previous(instant + 1),
    stepMs: null,
  }
}

interface RateInput extends Omit<GridInput, 'timing'> {
  readonly everyMs: number
}

function rateGrid({ everyMs, startAt, gridAnchorAt }: RateInput): Grid {
  const firstAt = gridAnchorAt === startAt ? gridAnchorAt : gridAnchorAt + everyMs
  return {
    atOrAfter: (instant) => firstAt + Math.max(0, Math.ceil((instant - firstAt) / everyMs)) * everyMs,
    atOrBefore: (instant) => (instant < firstAt ? null : firstAt + Math.floor((instant - firstAt) / everyMs) * everyMs),
    stepMs: everyMs,
  }
}
