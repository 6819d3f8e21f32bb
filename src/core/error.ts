/** The kind of an error. HTTP status and exit code follow from the kind alone. */
export type ErrorCode =
  | 'invalid'
  | 'not-found'
  | 'conflict'
  | 'unavailable'
  /** The database may or may not have committed; the caller must read the state before it tries again. */
  | 'commit-unknown'
  | 'not-allowed'
  /** The caller is unknown. */
  | 'unauthenticated'
  /** The caller exceeds its rate limit. */
  | 'too-many'
  /** A planner or agent has changed a schedule too often within an hour. */
  | 'too-many-changes'
  /** The namespace has all that its quota allows. */
  | 'quota'
  | 'failure'

export interface ErrorParts {
  /** The correction, or what to do next. */
  readonly hint?: string
  readonly details?: Readonly<Record<string, unknown>>
  readonly cause?: unknown
}

/** The one error that crosses a layer. Any other error is a defect. */
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
 * Whether a later retry may succeed: the store is unreachable, busy, or the connection broke. After an unknown commit the caller
 * reads the state first. A closed store stays closed.
 */
export function isPassing(error: unknown): error is BelfryError {
  if (!(error instanceof BelfryError) || error.details?.closed === true) return false
  return error.code === 'unavailable' || error.code === 'commit-unknown'
}

/** Whether the error says that stored data cannot be read: a retry gives the same error. */
export function isDamage(error: unknown): error is BelfryError {
  return error instanceof BelfryError && error.details?.damaged === true
}
