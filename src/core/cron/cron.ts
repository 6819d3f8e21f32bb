import { BoundedMap } from './bounded-map.ts'
import { type Calendar, compile } from './calendar.ts'
import { type ClockMark, clockMark } from './clock-mark.ts'
import { describe } from './describe.ts'
import { nextFiring, previousFiring } from './firing.ts'
import { longestGapMs } from './longest-gap.ts'
import { type ParsedCron, parse } from './parse.ts'
import { type Zone, zoneOf } from './zone.ts'

/** A cron expression in a zone: a set of instants from 1970 to `CRON_HORIZON_MS`, in whole seconds. */
export interface Cron {
  /** As it was written. */
  readonly expression: string
  /** The name to store; the spelling of the zone database where only the case differed. */
  readonly zone: string
  /** No date ever matches, as with `0 0 30 2 *`; `next` and `previous` then return null at once. */
  readonly isNever: boolean
  /** The first firing strictly after an instant, or null when there is none before the horizon. */
  next(afterMs: number): number | null
  /** The last firing strictly before an instant, or null when there is none. */
  previous(beforeMs: number): number | null
  /** The longest time between two firings from the year of `fromMs` on, or null with fewer than two; see gap.ts. */
  longestGapMs(fromMs: number): number | null
  /** The effect of a clock change on a firing that follows another, or null. */
  clockMark(atMs: number, previousMs: number | null): ClockMark | null
  /** In plain English, with the zone. */
  describe(): string
}

const MEMO_ENTRIES_MAX = 4_096

const memo = new BoundedMap<Cron>(MEMO_ENTRIES_MAX)

/** The calendar of an expression; throws a CronError for an expression or zone that cannot be used. */
export function cron(expression: string, zone: string): Cron {
  // No valid expression or zone contains NUL, so no two valid pairs share a key. A value that is not text has no key: an array
  // would find the entry of its string form.
  const isText = typeof expression === 'string' && typeof zone === 'string'
  const key = isText ? `${expression}\0${zone}` : ''
  const known = memo.get(key)
  if (known) return known
  const parsed = parse(expression)
  const made = Object.freeze(new CompiledCron(expression, parsed, zoneOf(zone)))
  memo.set(key, made)
  return made
}

class CompiledCron implements Cron {
  readonly expression: string
  readonly zone: string
  readonly isNever: boolean
  readonly #parsed: ParsedCron
  readonly #calendar: Calendar
  readonly #zone: Zone
  /** A schedule is validated several times before it is written, and the gap depends on the year alone. */
  #longestGap: { readonly year: number; readonly ms: number | null } | null = null

  constructor(expression: string, parsed: ParsedCron, zone: Zone) {
    this.#parsed = parsed
    this.#calendar = compile(parsed)
    this.#zone = zone
    this.expression = expression
    this.zone = zone.name
    this.isNever = this.#calendar.isNever
  }

  next(afterMs: number): number | null {
    return nextFiring(this.#calendar, this.#zone, instant(afterMs))
  }

  previous(beforeMs: number): number | null {
    return previousFiring(this.#calendar, this.#zone, instant(beforeMs))
  }

  longestGapMs(fromMs: number): number | null {
    const year = new Date(instant(fromMs)).getUTCFullYear()
    if (this.#longestGap?.year !== year) {
      this.#longestGap = { year, ms: longestGapMs(this.#calendar, this.#zone, Date.UTC(year, 0, 1)) }
    }
    return this.#longestGap.ms
  }

  clockMark(atMs: number, previousMs: number | null): ClockMark | null {
    return clockMark(this.#calendar, this.#zone, instant(atMs), previousMs === null ? null : instant(previousMs))
  }

  describe(): string {
    return describe(this.#parsed, this.isNever, this.zone)
  }
}

function instant(ms: number): number {
  if (Number.isFinite(ms)) return ms
  throw new RangeError(`A cron is asked about an instant in epoch milliseconds, not about ${ms}.`)
}
