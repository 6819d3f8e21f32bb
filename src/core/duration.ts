const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'm', ms: 60_000 },
  { name: 's', ms: 1_000 },
  { name: 'ms', ms: 1 },
] as const

/** A century. Larger durations are mistakes, and instants would leave the exact integers. */
export const durationMsMax = 36_500 * 86_400_000

const daysOfWeek = 7
const shownLengthMax = 60
const example = '30s, 10m, 1h30m, 1.5h, 2d or 500ms'

/** What people write for our units; a map, because every object already has a property called `constructor`. */
const familiarNames = new Map<string, string>([
  ['sec', 's'],
  ['secs', 's'],
  ['second', 's'],
  ['seconds', 's'],
  ['min', 'm'],
  ['mins', 'm'],
  ['minute', 'm'],
  ['minutes', 'm'],
  ['hr', 'h'],
  ['hrs', 'h'],
  ['hour', 'h'],
  ['hours', 'h'],
  ['day', 'd'],
  ['days', 'd'],
  ['msec', 'ms'],
  ['millisecond', 'ms'],
  ['milliseconds', 'ms'],
])

export class DurationError extends Error {
  override readonly name = 'DurationError'
  /** The index at which the problem begins. */
  readonly position: number
  /** What is wrong, as a clause. */
  readonly problem: string
  readonly suggestion: string

  constructor(text: string, position: number, wrong: string, suggestion: string) {
    const shown = text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text
    const problem = `${wrong} (at character ${position + 1})`
    super(`The duration ${JSON.stringify(shown)} ${problem}. Write ${suggestion}.`)
    this.problem = problem
    this.position = position
    this.suggestion = suggestion
  }
}

/**
 * Parses a duration such as `1h30m` into whole ms.
 *
 * Units come once each, from the largest down; only the last number may have a fraction, and the total must be whole ms. Zero is
 * refused: an interval, a lease or a limit of no length is a mistake. A number without a unit is refused, because it could mean
 * seconds or ms.
 */
export function parseDuration(text: string): number {
  if (typeof text !== 'string') throw new DurationError(String(text), 0, 'is not text', example)
  if (text === '') throw new DurationError(text, 0, 'is empty', example)
  let totalMs = 0
  let position = 0
  let largestAllowed = 0
  let fractionAt = -1
  while (position < text.length) {
    const part = readPart(text, position)
    if (fractionAt >= 0) {
      throw new DurationError(
        text,
        fractionAt,
        'has a fraction before its last unit',
        'the fraction in the last unit only',
      )
    }
    if (part.unitIndex < largestAllowed) throw wrongOrder(text, position, part.unitIndex, largestAllowed)
    if (part.hasFraction) fractionAt = position
    totalMs += partMs(text, position, part)
    if (totalMs > durationMsMax) throw new DurationError(text, position, 'is longer than a century', 'at most 36500d')
    largestAllowed = part.unitIndex + 1
    position = part.end
  }
  if (totalMs === 0) throw new DurationError(text, 0, 'is zero', 'a duration above zero, such as 30s')
  return totalMs
}

/** Formats whole ms in the largest units that fit, such as `1h30m`; `parseDuration` reads all but zero back exactly. */
export function formatDuration(ms: number): string {
  if (!Number.isSafeInteger(ms) || ms < 0 || ms > durationMsMax) {
    throw new DurationError(String(ms), 0, 'is not a duration in ms that can be stored', `0 to ${durationMsMax}`)
  }
  if (ms === 0) return '0s'
  let text = ''
  let leftMs = ms
  for (const unit of units) {
    const count = Math.floor(leftMs / unit.ms)
    if (count > 0) text += `${count}${unit.name}`
    leftMs %= unit.ms
  }
  return text
}

interface Part {
  readonly digits: string
  readonly decimals: number
  readonly hasFraction: boolean
  readonly unitIndex: number
  readonly end: number
}

function readPart(text: string, position: number): Part {
  const [, whole = '', fraction] = matchAt(/(\d+)(?:\.(\d+))?/y, text, position) ?? []
  if (whole === '') throw noNumber(text, position)
  const unitAt = position + whole.length + (fraction === undefined ? 0 : fraction.length + 1)
  const [name = ''] = matchAt(/\p{L}+/uy, text, unitAt) ?? []
  const unitIndex = units.findIndex((unit) => unit.name === name)
  if (unitIndex < 0) throw noUnit(text, unitAt, `${text.slice(position, unitAt)}`, name)
  const decimals = fraction?.length ?? 0
  const digits = whole + (fraction ?? '')
  return { digits, decimals, hasFraction: fraction !== undefined, unitIndex, end: unitAt + name.length }
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | null {
  pattern.lastIndex = position
  return pattern.exec(text)
}

/** Integers only: in floating point 1.1h is not a whole number of ms, and many digits would be rounded. */
function partMs(text: string, position: number, { digits, decimals, unitIndex }: Part): number {
  const scale = 10n ** BigInt(decimals)
  const scaledMs = BigInt(digits) * BigInt(units[unitIndex]?.ms ?? 0)
  if (scaledMs % scale !== 0n) throw new DurationError(text, position, 'is not a whole number of ms', 'fewer decimals')
  const ms = scaledMs / scale
  return ms > BigInt(durationMsMax) ? Number.POSITIVE_INFINITY : Number(ms)
}

function noNumber(text: string, position: number): DurationError {
  const found = text[position] ?? ''
  if (found === '-') return new DurationError(text, position, 'is negative', 'a duration without a sign')
  if (found === '.') return new DurationError(text, position, 'has no digit before its point', 'a 0 before the point')
  if (/\s/.test(found)) return new DurationError(text, position, 'has a space in it', 'it without spaces')
  return new DurationError(text, position, 'has no number here', example)
}

function noUnit(text: string, position: number, number: string, name: string): DurationError {
  if (name === '') {
    const [, apart] = matchAt(/\s+(\p{L}+)/uy, text, position) ?? []
    if (apart !== undefined) return new DurationError(text, position, 'has a space in it', meantBy(number, apart))
    const suggestion = `${number}s for seconds or ${number}ms for milliseconds`
    return new DurationError(text, position, `has no unit after ${number}`, suggestion)
  }
  const problem = `has the unknown unit ${JSON.stringify(name.slice(0, 20))}`
  return new DurationError(text, position, problem, meantBy(number, name))
}

/** A number with the supported unit closest to the written one. */
function meantBy(number: string, name: string): string {
  const lower = name.toLowerCase()
  const meant = units.find((unit) => unit.name === lower)?.name ?? familiarNames.get(lower)
  if (meant !== undefined) return `${number}${meant}`
  const isWeeks = /^w(ee)?ks?$|^w$/.test(lower) && /^\d{1,4}$/.test(number)
  return isWeeks ? `${Number(number) * daysOfWeek}d` : 'one of the units d, h, m, s, ms'
}

function wrongOrder(text: string, position: number, unitIndex: number, largestAllowed: number): DurationError {
  const name = units[unitIndex]?.name ?? ''
  if (unitIndex === largestAllowed - 1)
    return new DurationError(text, position, `has the unit ${name} twice`, 'each unit once')
  return new DurationError(text, position, `has ${name} after a smaller unit`, 'the larger units first, as in 1h30m')
}
