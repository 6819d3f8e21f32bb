import { durationMsMax, formatDuration } from '../../core/duration.ts'

export function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`
}

const secondMs = 1_000

/**
 * A duration for a sentence, without ms if it is a second or longer; the exact number is in a field
 * beside the sentence.
 */
export function about(ms: number): string {
  // An instant may be further away than the longest duration that can be written.
  if (ms > durationMsMax) return `more than ${formatDuration(durationMsMax)}`
  return formatDuration(ms < secondMs ? ms : Math.round(ms / secondMs) * secondMs)
}

/** A reason given by a user, without its full stop, to end one of our sentences. */
export function clause(reason: string): string {
  return reason.replace(/[.\s]+$/, '')
}
