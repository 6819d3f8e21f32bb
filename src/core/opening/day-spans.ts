/**
 * Open times of one day as minutes: start, end, start, end…, in ascending order and without overlap; an
 * end is exclusive.
 */
export type DaySpans = readonly number[]

export const dayMinutes = 1_440
export const wholeDay: DaySpans = [0, dayMinutes]
export const noSpans: DaySpans = []

/** Joins spans that touch or overlap, so that every number left is a change. */
export function joined(spans: readonly (readonly [start: number, end: number])[]): DaySpans {
  const result: number[] = []
  for (const [start, end] of [...spans].sort(([a], [b]) => a - b)) {
    const lastEnd = result.at(-1)
    if (lastEnd !== undefined && start <= lastEnd) result[result.length - 1] = Math.max(lastEnd, end)
    else result.push(start, end)
  }
  return result
}

/** Whether a minute of the day is open, which may be a fraction. */
export function isOpenAt(spans: DaySpans, minute: number): boolean {
  for (let index = 0; index < spans.length; index += 2) {
    if (minute < (spans[index] as number)) return false
    if (minute < (spans[index + 1] as number)) return true
  }
  return false
}

/** The first change after a minute of the day; the end of the day is not a change. */
export function changeAfter(spans: DaySpans, minute: number): number | null {
  for (const change of spans) if (change > minute && change < dayMinutes) return change
  return null
}

/** The spans without the closed ones. */
export function without(spans: DaySpans, closed: DaySpans): DaySpans {
  if (closed.length === 0 || spans.length === 0) return spans
  const left: [number, number][] = []
  for (let index = 0; index < spans.length; index += 2) {
    let start = spans[index] as number
    const end = spans[index + 1] as number
    for (let other = 0; other < closed.length; other += 2) {
      const [from, to] = [closed[other] as number, closed[other + 1] as number]
      if (to <= start || from >= end) continue
      if (from > start) left.push([start, from])
      start = to
    }
    if (start < end) left.push([start, end])
  }
  return joined(left)
}
