import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'

/** The nominal instants of a schedule, worked out anew and by arithmetic alone: one in every period, at an offset. */
export interface Nominal {
  readonly periodMs: number
  readonly offsetMs: number
  /** The first instant that can be one. */
  readonly fromAt: number
  /** The last one. */
  readonly untilAt: number
}

const [secondMs, minuteMs, hourMs, dayMs] = [1_000, 60_000, 3_600_000, 86_400_000] as const

/** What the calendars of the workload mean. Others are not worked out here. */
export function nominalOf(spec: ScheduleSpec, gridAnchorAt: number): Nominal | null {
  const { timing, startAt, endAt } = spec
  const window = { fromAt: startAt ?? Number.NEGATIVE_INFINITY, untilAt: endAt ?? Number.POSITIVE_INFINITY }
  if (timing.cron !== undefined) {
    const found = ofCron(timing.cron)
    return found === null ? null : { ...found, ...window }
  }
  if (timing.everyMs === undefined || timing.from !== 'start') return null
  const firstAt = gridAnchorAt === startAt ? gridAnchorAt : gridAnchorAt + timing.everyMs
  const offsetMs = ((firstAt % timing.everyMs) + timing.everyMs) % timing.everyMs
  return { periodMs: timing.everyMs, offsetMs, ...window, fromAt: Math.max(firstAt, window.fromAt) }
}

/**
 * The instant that a timing without a grid names by itself, where it is still to be planned: an `at`, or the `startAt` of a
 * fixed delay that has had no occurrence. A grid names none: it is asked for what comes after now.
 */
export function namedInstant({ timing, startAt }: ScheduleSpec, lastPlannedAt: number | null): number | null {
  if (timing.at !== undefined) return timing.at > (lastPlannedAt ?? Number.NEGATIVE_INFINITY) ? timing.at : null
  const isDelay = timing.everyMs !== undefined && timing.from !== 'start'
  return isDelay && lastPlannedAt === null ? (startAt ?? null) : null
}

/** How long after its nominal instant an occurrence may be due: each has its own share of a part of the period, up to a cap. */
export function spreadMsMax({ spread }: ScheduleSpec, { periodMs }: Nominal): number {
  // The simulation tunes no settings.
  if (spread === 'settings') return promptSpread.recurringCapMs
  return spread === undefined ? 0 : Math.min(spread.recurringFraction * periodMs, spread.recurringCapMs)
}

function ofCron(expression: string): Pick<Nominal, 'periodMs' | 'offsetMs'> | null {
  const fields = expression.split(' ')
  const [second, minute, hour] = fields.length === 6 ? fields : ['0', ...fields]
  const [secondStep, minuteStep] = [stepOf(second), stepOf(minute)]
  if (secondStep !== null) return { periodMs: secondStep * secondMs, offsetMs: 0 }
  if (minuteStep !== null) return { periodMs: minuteStep * minuteMs, offsetMs: 0 }
  if (hour === '*') return { periodMs: hourMs, offsetMs: Number(minute) * minuteMs }
  const offsetMs = Number(hour) * hourMs + Number(minute) * minuteMs
  return Number.isFinite(offsetMs) ? { periodMs: dayMs, offsetMs } : null
}

function stepOf(field: string | undefined): number | null {
  const [, step] = /^\*\/(\d+)$/.exec(field ?? '') ?? []
  return step === undefined ? null : Number(step)
}

/** The first nominal instant after this one, or `null`. */
export function nominalAfter({ periodMs, offsetMs, fromAt, untilAt }: Nominal, instant: number): number | null {
  const least = Math.max(instant + 1, fromAt)
  const at = Math.ceil((least - offsetMs) / periodMs) * periodMs + offsetMs
  return at <= untilAt ? at : null
}

/** How many there are from one instant to another, both included. */
export function nominalCount(nominal: Nominal, from: number, to: number): number {
  const first = nominalAfter(nominal, from - 1)
  const last = Math.min(to, nominal.untilAt)
  return first === null || first > last ? 0 : Math.floor((last - first) / nominal.periodMs) + 1
}
