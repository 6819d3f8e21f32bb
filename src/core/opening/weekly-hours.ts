import { CalendarError } from './calendar-error.ts'
import { type DaySpans, dayMinutes, joined } from './day-spans.ts'

/** The open spans of a text such as `mon-fri 08:00-18:00`. */
export interface WeeklyHours {
  /** Weekdays on which they begin; 0 is Sunday. */
  readonly days: readonly number[]
  readonly startMinute: number
  /** At most 1,440 more than the start: time beyond midnight belongs to the day on which it began. */
  readonly endMinute: number
}

export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
const form = '`days hh:mm-hh:mm`, such as mon-fri 08:00-18:00'

/** Parses opening hours; throws a CalendarError with the position of the first wrong character. */
export function parseHours(text: string): WeeklyHours {
  const reader = new Reader(text)
  const days = reader.days()
  reader.expect(' ', form)
  return { days, ...timesIn(reader) }
}

/** Parses `12:00-18:00`, which begins at this character of the text. */
export function parseTimes(text: string, at: number): Times {
  return timesIn(new Reader(text, at))
}

export type Times = Pick<WeeklyHours, 'startMinute' | 'endMinute'>

function timesIn(reader: Reader): Times {
  const startMinute = reader.time(dayMinutes - 1, 'a time from 00:00 to 23:59')
  reader.expect('-', form)
  const endMinute = reader.time(dayMinutes, 'a time from 00:00 to 24:00')
  reader.end()
  return { startMinute, endMinute: endMinute > startMinute ? endMinute : endMinute + dayMinutes }
}

class Reader {
  readonly #text: string
  #at: number

  constructor(text: string, at = 0) {
    this.#text = text
    this.#at = at
  }

  days(): number[] {
    const found = new Set<number>()
    do {
      const first = this.#day()
      const last = this.#takes('-') ? this.#day() : first
      for (let day = first; ; day = (day + 1) % 7) {
        found.add(day)
        if (day === last) break
      }
    } while (this.#takes(','))
    return [...found].sort()
  }

  /** `08:00` as minutes of the day. */
  time(minuteMax: number, expected: string): number {
    const [text = '', hours, minutes] = /^(\d\d):(\d\d)/.exec(this.#text.slice(this.#at)) ?? []
    const minute = Number(hours) * 60 + Number(minutes)
    if (text === '' || Number(minutes) > 59 || minute > minuteMax) throw this.#fault(expected)
    this.#at += text.length
    return minute
  }

  expect(character: string, expected: string): void {
    if (!this.#takes(character)) throw this.#fault(expected)
  }

  end(): void {
    if (this.#at < this.#text.length) throw this.#fault('nothing after the hours')
  }

  #day(): number {
    const day = weekdays.indexOf(this.#text.slice(this.#at, this.#at + 3).toLowerCase() as (typeof weekdays)[number])
    if (day < 0) throw this.#fault(`a day: ${weekdays.join(', ')}`)
    this.#at += 3
    return day
  }

  #takes(character: string): boolean {
    if (this.#text[this.#at] !== character) return false
    this.#at += 1
    return true
  }

  #fault(expected: string): CalendarError {
    const rest = this.#text.slice(this.#at)
    const problem = rest === '' ? 'it ends here' : `this cannot be read: ${JSON.stringify(rest.slice(0, 20))}`
    return new CalendarError(this.#text, { position: this.#at, problem, expected })
  }
}

/** The spans of each weekday, including those that began on the day before. */
export function spansByWeekday(hours: readonly WeeklyHours[]): readonly DaySpans[] {
  return weekdays.map((_, weekday) => {
    const before = (weekday + 6) % 7
    return joined(
      hours.flatMap(({ days, startMinute, endMinute }) => [
        ...(days.includes(weekday) ? [[startMinute, Math.min(endMinute, dayMinutes)] as const] : []),
        ...(days.includes(before) && endMinute > dayMinutes ? [[0, endMinute - dayMinutes] as const] : []),
      ]),
    )
  })
}
