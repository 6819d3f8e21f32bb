/** How much of a provider's limit is used, as an attempt reports it. */
export interface Utilisation {
  /** The name of the limit: `five_hour`. */
  readonly window: string
  /** 0.83 is 83 %; it may exceed 1. */
  readonly share: number
  /** When the limit resets, in epoch ms. */
  readonly resetAt: number
}

const windowLengthMax = 100

/** What is wrong with a report, or null. */
export function utilisationProblem({ window, share, resetAt }: Utilisation): string | null {
  if (typeof window !== 'string' || window === '' || window.length > windowLengthMax) {
    return `window is not a text of 1 to ${windowLengthMax} characters`
  }
  if (typeof share !== 'number' || !Number.isFinite(share) || share < 0) return 'share is not a number from 0 on'
  return Number.isSafeInteger(resetAt) ? null : 'resetAt is not a whole number of epoch ms'
}
