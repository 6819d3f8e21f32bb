import { BoundedMap } from '../cron/bounded-map.ts'
import { compile } from '../cron/calendar.ts'
import { dayAtOrAfter, matchAtOrAfter } from '../cron/match.ts'
import { parse } from '../cron/parse.ts'
import { segmentAt, type Zone, zoneOf } from '../cron/zone.ts'
import { closedSpans, weekdayOf } from './closed-hours.ts'
import { type DateSet, dateSet } from './dates.ts'
import { changeAfter, type DaySpans, dayMinutes, isOpenAt, joined, noSpans, wholeDay, without } from './day-spans.ts'
import { parseHours, spansByWeekday } from './weekly-hours.ts'

/** Opening hours by the wall clock of a zone: weekly hours or the matching minutes of a cron, and dates that differ. */
export interface OpeningHours {
  readonly zone: string
  /** `mon-fri 08:00-18:00`: the end is exclusive, and an end not after its start lies on the next day. */
  readonly open?: readonly string[] | undefined
  /** A cron expression of five fields whose matching minutes are open. */
  readonly cron?: string | undefined
  /** Open all day: `2026-12-25`, `2026-12-24..2026-12-31`, or `12-25` of every year. */
  readonly openDates?: readonly string[] | undefined
  /** Closed all day, whatever the other fields say. */
  readonly closedDates?: readonly string[] | undefined
  /** Closed for these hours, whatever the other fields say: `wed 14:00-16:00`, or a date with hours, `2026-12-24 12:00-24:00`. */
  readonly closedHours?: readonly string[] | undefined
}

export interface Opening {
  readonly open: boolean
  /** The first instant after the given one at which `open` differs, or null where that is over 400 days ahead. */
  readonly changesAt: number | null
}

const minuteMs = 60_000
const dayMs = dayMinutes * minuteMs
/** How far ahead the search for a change goes. A calendar that does not open within this time is refused when it is written. */
export const openingHorizonMs = 400 * dayMs
const compiledMax = 1_024

const compiled = new BoundedMap<CompiledHours>(compiledMax)
/** The text of a calendar with a thousand holidays is long: the same object is not parsed again. */
const known = new WeakMap<OpeningHours, CompiledHours>()

/** Whether a calendar is open at an instant, and when that changes. */
export function opening({ at, calendar }: { readonly at: number; readonly calendar: OpeningHours }): Opening {
  return compiledHours(calendar).at(at)
}

/** The compiled calendar; throws a CalendarError or a CronError for a text that cannot be used. */
export function compiledHours(calendar: OpeningHours): CompiledHours {
  const found = known.get(calendar)
  if (found !== undefined) return found
  const { zone, open, cron, openDates, closedDates, closedHours } = calendar
  const key = JSON.stringify([zone, open, cron, openDates, closedDates, closedHours])
  const made = compiled.get(key) ?? new CompiledHours(calendar)
  compiled.set(key, made)
  known.set(calendar, made)
  return made
}

class CompiledHours {
  readonly #zone: Zone
  readonly #spansOf: (day: number) => DaySpans
  readonly #openDates: DateSet
  readonly #closedDates: DateSet
  readonly #closedSpans: (day: number) => DaySpans

  constructor({ zone, open = [], cron, openDates = [], closedDates = [], closedHours = [] }: OpeningHours) {
    this.#zone = zoneOf(zone)
    this.#spansOf = cron === undefined ? spansOfWeek(open) : spansOfCron(cron)
    this.#openDates = dateSet(openDates)
    this.#closedDates = dateSet(closedDates)
    this.#closedSpans = closedSpans(closedHours)
  }

  at(instant: number): Opening {
    const isOpen = this.#isOpen(instant)
    return { open: isOpen, changesAt: this.#changeAfter(instant, isOpen) }
  }

  #isOpen(instant: number): boolean {
    const local = instant + segmentAt(this.#zone, instant).offsetMs
    const day = Math.floor(local / dayMs)
    return isOpenAt(this.#spans(day), (local - day * dayMs) / minuteMs)
  }

  /** A clock change may open or close a calendar too: the wall clock jumps to another time. */
  #changeAfter(instant: number, isOpen: boolean): number | null {
    const untilAt = instant + openingHorizonMs
    for (let from = instant; from <= untilAt; ) {
      const { offsetMs, endMs } = segmentAt(this.#zone, from)
      const end = Math.min(endMs, untilAt + 1)
      const change = this.#localChangeAfter(from + offsetMs, end + offsetMs, isOpen)
      if (change !== null) return change - offsetMs
      if (endMs > untilAt) return null
      if (this.#isOpen(endMs) !== isOpen) return endMs
      from = endMs
    }
    return null
  }

  /** The first wall-clock time between two at which the state differs. */
  #localChangeAfter(local: number, until: number, isOpen: boolean): number | null {
    let day = Math.floor(local / dayMs)
    let minute = (local - day * dayMs) / minuteMs
    for (; day * dayMs < until; day += 1, minute = -1) {
      const spans = this.#spans(day)
      // Midnight belongs to the new day, whose spans need not begin there.
      const atMidnight = minute < 0 && isOpenAt(spans, 0) !== isOpen ? 0 : null
      const change = atMidnight ?? changeAfter(spans, Math.max(minute, 0))
      if (change === null) continue
      const at = day * dayMs + change * minuteMs
      return at < until ? at : null
    }
    return null
  }

  #spans(day: number): DaySpans {
    if (this.#closedDates.has(day)) return noSpans
    return without(this.#openDates.has(day) ? wholeDay : this.#spansOf(day), this.#closedSpans(day))
  }
}

function spansOfWeek(open: readonly string[]): (day: number) => DaySpans {
  const byWeekday = spansByWeekday(open.map(parseHours))
  return (day) => byWeekday[weekdayOf(day)] as DaySpans
}

/** A cron matches the same minutes on each of its days. */
function spansOfCron(expression: string): (day: number) => DaySpans {
  const calendar = compile(parse(expression))
  const someDay = calendar.isNever ? null : dayAtOrAfter(calendar, 0)
  const spans: (readonly [number, number])[] = []
  for (let minute = 0; someDay !== null && minute < dayMinutes; minute += 1) {
    const local = someDay * dayMs + minute * minuteMs
    if (matchAtOrAfter(calendar, local) === local) spans.push([minute, minute + 1])
  }
  const daily = joined(spans)
  return (day) => (someDay !== null && dayAtOrAfter(calendar, day) === day ? daily : noSpans)
}
