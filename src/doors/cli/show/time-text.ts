const secondMs = 1_000
const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', secondMs],
] as const

/** From this many of a unit on, smaller units are left out. */
const roundFrom = 10

/** A duration: `3 h`, `1 h 5 min`, `12 d`; below a second in ms. */
export function howLong(ms: number): string {
  if (ms < secondMs) return `${Math.round(ms)} ms`
  const index = units.findIndex(([, size]) => ms >= size)
  const [unit, size] = units[index] ?? units[3]
  const [smaller, smallerSize] = units[index + 1] ?? ['', 0]
  if (smallerSize === 0 || ms >= roundFrom * size) return `${Math.round(ms / size)} ${unit}`
  const whole = Math.floor(ms / size)
  const rest = Math.floor((ms - whole * size) / smallerSize)
  return rest === 0 ? `${whole} ${unit}` : `${whole} ${unit} ${rest} ${smaller}`
}

/** The distance of an instant: `in 3 h`, `2 min ago`, `now`. */
export function relative(at: number, now: number): string {
  const ms = at - now
  if (Math.abs(ms) < secondMs) return 'now'
  return ms > 0 ? `in ${howLong(ms)}` : `${howLong(-ms)} ago`
}

interface Reader {
  readonly now: number
  readonly zone: string
}

/** An instant: `in 3 h, Mon 09:00 Europe/Paris`. */
export function when(at: number, reader: Reader): string {
  return `${relative(at, reader.now)}, ${local(at, reader)}`
}

const nearMs = 6 * 86_400_000

/** Local time: the day of the week while it is unambiguous, else the date. */
export function local(at: number, { now, zone }: Reader): string {
  const { weekday, date, time } = partsOf(at, zone)
  return `${Math.abs(at - now) < nearMs ? weekday : date} ${time} ${zone}`
}

/** Local time with the date: `2026-11-16 02:00 Europe/Paris`. */
export function stamp(at: number, zone: string): string {
  const { date, time } = partsOf(at, zone)
  return `${date} ${time} ${zone}`
}

/** `2026-11-16T01:00Z`; with seconds, and ms, where there are any. */
export function utc(at: number): string {
  return new Date(at)
    .toISOString()
    .replace(/\.000Z$/, 'Z')
    .replace(/:00Z$/, 'Z')
}

interface Parts {
  readonly weekday: string
  readonly date: string
  /** With seconds where there are any. */
  readonly time: string
}

const formats = new Map<string, Intl.DateTimeFormat>()

function partsOf(at: number, zone: string): Parts {
  const found = formats.get(zone)
  const format = found ?? formatIn(zone)
  if (found === undefined) formats.set(zone, format)
  const parts = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, value]))
  const { weekday = '', year, month, day, hour, minute, second } = parts
  const time = `${hour}:${minute}${second === '00' ? '' : `:${second}`}`
  return { weekday, date: `${year}-${month}-${day}`, time }
}

function formatIn(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone,
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  })
}
