/** What went wrong, as doors tell it apart. Status and exit codes follow from the code alone. */
export type ErrorCode =
  | 'invalid'
  | 'not-found'
  | 'conflict'
  | 'unavailable'
  /** The database may or may not have committed; the caller must look before it tries again. */
  | 'commit-unknown'
  | 'not-allowed'
  /** Nobody knows who asks. */
  | 'unauthenticated'
  /** Whoever asks does so more often than is good for the others. */
  | 'too-many'
  | 'failure'

export interface ErrorParts {
  /** What would be right, or what to do next. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The one error that crosses a layer. Anything else that is thrown is a defect. */
export class BelfryError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(code: ErrorCode, message: string, { hint, details, cause }: ErrorParts = {}) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'BelfryError'
    this.code = code
    this.hint = hint
    this.details = details
  }
}

/**
 * Whether the same may be asked again later and be answered then: the store is away, or busy, or broke off in the middle.
 * After a commit that broke off the caller looks first. A store that was closed stays closed.
 */
export function isPassing(error: unknown): error is BelfryError {
  if (!(error instanceof BelfryError) || error.details?.closed === true) return false
  return error.code === 'unavailable' || error.code === 'commit-unknown'
}

/** Whether what is stored cannot be read as it was written: to ask again answers the same. */
export function isDamage(error: unknown): error is BelfryError {
  return error instanceof BelfryError && error.details?.damaged === true
}
