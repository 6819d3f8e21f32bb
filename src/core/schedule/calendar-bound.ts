import { nextOpening, openingOfAll } from '../opening/opening-of-all.ts'
import type { Grid } from '../timing/timing.ts'
import type { GovernedSchedule } from './governor.ts'

/** A daily cron that never meets the openings of its calendars is given up after some years. */
const looksMax = 1_000

type Bounded = Pick<GovernedSchedule, 'calendars'>

/** The first instant from one on at which the window and the calendars are open. `null` where there is none. */
export function windowFrom(
  at: number,
  { calendars = [], window }: Pick<GovernedSchedule, 'calendars' | 'window'>,
): number | null {
  const hours = window === undefined ? [] : [{ calendar: window, isInverted: false }]
  return openFrom(at, { calendars: [...calendars, ...hours] }, null)
}

/** The first instant from one on at which the calendars are open; on a grid, its next instant at which they are. `null` where there is none. */
export function openFrom(at: number, { calendars = [] }: Bounded, grid: Grid | null): number | null {
  if (calendars.length === 0) return at
  let next: number | null = at
  for (let looks = 0; next !== null && looks < looksMax; looks++) {
    const opensAt = nextOpening({ at: next, calendars })
    if (opensAt === next || opensAt === null || grid === null) return opensAt
    next = grid.atOrAfter(opensAt)
  }
  return null
}

/** Whether the calendars are closed at an instant. */
export function isClosed(at: number, { calendars = [] }: Bounded): boolean {
  return calendars.length > 0 && !openingOfAll({ at, calendars }).open
}

/**
 * When an occurrence is due whose spread would move it out of the open hours of its instant: later by the rest of its offset, and before
 * the calendars close.
 */
export function dueInside(plannedAt: number, dueAt: number, { calendars = [] }: Bounded): number {
  if (calendars.length === 0 || dueAt === plannedAt) return dueAt
  const first = openingOfAll({ at: Math.min(plannedAt, dueAt), calendars })
  if (first.open && (first.changesAt === null || first.changesAt > Math.max(plannedAt, dueAt))) return dueAt
  const { open, changesAt } = openingOfAll({ at: plannedAt, calendars })
  if (!open) return dueAt
  const offsetMs = Math.abs(dueAt - plannedAt)
  return plannedAt + (changesAt === null ? offsetMs : offsetMs % (changesAt - plannedAt))
}
