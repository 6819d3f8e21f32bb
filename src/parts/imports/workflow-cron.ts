/** A cron of cool-workflow in our notation, or why it is not supported. `dead` are values that never matched. */
export type ReadCron = { readonly cron: string; readonly dead: readonly string[] } | { readonly why: string }

const ranges = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of the month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'weekday', min: 0, max: 6 },
] as const
type Range = (typeof ranges)[number]

/**
 * Translates a calendar of cool-workflow. In cool-workflow a field is `*`, a step or a list of numbers; any other text never matches.
 * A step counts from zero, even for days and months, which begin with one. A day must match both day fields, where standard cron takes
 * either.
 */
export function cronOf(expression: string): ReadCron {
  const fields = expression.trim().split(/\s+/)
  if (fields.length !== ranges.length)
    return { why: `its cron has ${fields.length} fields, and cool-workflow takes five` }
  const read = ranges.map((range, index) => fieldOf(fields[index] ?? '', range))
  const never = read.find(({ values }) => values.length === 0)
  if (never !== undefined) return { why: `its cron never matched: no value fits its ${never.range.name}` }
  const [, , days, , weekdays] = read
  if (days?.isRestricted === true && weekdays?.isRestricted === true) {
    return {
      why: 'its cron runs on days that match both the day of the month and the weekday; Belfry would run on days that match either',
    }
  }
  return { cron: read.map(({ text }) => text).join(' '), dead: read.flatMap(({ dead }) => dead) }
}

interface ReadField {
  readonly range: Range
  readonly values: readonly number[]
  readonly isRestricted: boolean
  readonly text: string
  readonly dead: readonly string[]
}

function fieldOf(field: string, range: Range): ReadField {
  const { min, max } = range
  const all = Array.from({ length: max - min + 1 }, (_, index) => min + index)
  const step = /^\*\/(\d{1,9})$/.exec(field)?.[1]
  if (step !== undefined) {
    const values = Number(step) === 0 ? [] : all.filter((value) => value % Number(step) === 0)
    const { isRestricted, text } = said(values, all)
    // For minutes and hours a step means the same in both; but a list of hours behaves differently from a step
    // at a clock change.
    const isSame = isRestricted && min === 0 && max > 6 && Number(step) <= max
    return { range, values, isRestricted, text: isSame ? field : text, dead: [] }
  }
  if (field === '*') return { range, values: all, ...said(all, all), dead: [] }
  const items = field.split(',')
  const isAlive = (item: string) => /^\d{1,9}$/.test(item) && all.includes(Number(item))
  const values = all.filter((value) => items.some((item) => isAlive(item) && Number(item) === value))
  return { range, values, ...said(values, all), dead: items.filter((item) => !isAlive(item)) }
}

function said(values: readonly number[], all: readonly number[]): Pick<ReadField, 'isRestricted' | 'text'> {
  const isRestricted = values.length < all.length
  return { isRestricted, text: isRestricted ? values.join(',') : '*' }
}
