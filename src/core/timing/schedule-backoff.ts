/** More failures in a row than this do not lengthen the wait. */
export const backoffDoublingsMax = 5

export interface ScheduleBackoffInput {
  readonly everyMs: number
  readonly failureCount?: number | undefined
}

/** The wait of an interval schedule after failures in a row; the first success returns to the base at once. */
export function backedOffEveryMs({ everyMs, failureCount = 0 }: ScheduleBackoffInput): number {
  return everyMs * 2 ** Math.min(failureCount, backoffDoublingsMax)
}
