import { openingOfAll } from '../opening/opening-of-all.ts'
import type { GovernedSchedule } from '../schedule/governor.ts'
import { gridFor } from '../schedule/wishes.ts'
import { instantsBetween } from './instants-between.ts'
import type { Missed } from './missed.ts'
import type { CountedRange, PlannedState } from './occurrences.ts'

type Range = NonNullable<Missed['before']>
type RangeByCalendar = CountedRange & { readonly reason: Range['reason'] | 'calendar' }

/** Beyond this many openings and closings the rest of a range is not split. */
const rangesMax = 100

/**
 * Occurrences that end without a run, split where their calendars open and close: those in closed hours end with the reason
 * `calendar`.
 */
export function byCalendar(range: Range, schedule: GovernedSchedule, state: PlannedState): RangeByCalendar[] {
  const { calendars = [], minMs } = schedule
  const { from, to, reason } = range
  const grid = calendars.length === 0 ? null : gridFor({ now: to, schedule, state })
  // Instants that `min` leaves out are not occurrences, but counting a part of the range would
  // include them.
  if (grid === null || minMs !== undefined) return [range]
  const ranges: RangeByCalendar[] = []
  for (let at = from; at <= to; ) {
    const { open, changesAt } = openingOfAll({ at, calendars })
    const isRest = changesAt === null || changesAt > to || ranges.length === rangesMax
    const end = isRest ? to + 1 : changesAt
    const { beyond } = instantsBetween(grid, { from: at, to: end, listMax: 0 })
    if (beyond !== null)
      ranges.push({
        ...beyond,
        reason: open || at === state.nextRunAt || (isRest && ranges.length === rangesMax) ? reason : 'calendar',
      })
    at = end
  }
  return ranges
}
