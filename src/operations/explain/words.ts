import { durationMsMax, formatDuration } from '../../core/duration.ts'

export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

const secondMs = 1_000

/** How long, as a sentence says it: from a second on nobody reads ms. The exact number stands in a field beside it. */
export function about(ms: number): string {
  // An instant may lie further away than anything here may take.
  if (ms > durationMsMax) return `more than ${formatDuration(durationMsMax)}`
  return formatDuration(ms < secondMs ? ms : Math.round(ms / secondMs) * secondMs)
}

/** A reason that somebody gave as a whole sentence, as the end of one of ours. */
export function clause(reason: string): string {
  return reason.replace(/[.\s]+$/, '')
}
