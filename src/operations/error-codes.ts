import type { ErrorCode } from '../core/error.ts'

/** How a door reports an error: the exit code of a command, the status of an HTTP response. */
export interface CodeEntry {
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 500 | 503
  readonly says: string
}

export const exitOk = 0

/** Exit code and status follow from the code alone, so all doors agree. */
export const errorCodes: { readonly [Code in ErrorCode]: CodeEntry } = {
  failure: { exit: 1, status: 500, says: 'An unexpected error occurred, or the requested work failed.' },
  invalid: {
    exit: 2,
    status: 400,
    says: 'The input is refused whole; details.problems lists every problem.',
  },
  'not-found': { exit: 3, status: 404, says: 'Not found: the entry never existed, or was removed.' },
  conflict: { exit: 4, status: 409, says: 'It conflicts with the current state; read that, and decide again.' },
  unavailable: {
    exit: 5,
    status: 503,
    says: 'The store is not available, or the answer took too long; try again later.',
  },
  'commit-unknown': {
    exit: 5,
    status: 503,
    says: 'The write may or may not have happened; check before you try again.',
  },
  'not-allowed': { exit: 6, status: 403, says: 'The caller may not do this.' },
  unauthenticated: { exit: 6, status: 401, says: 'There is no valid token.' },
  'too-many': { exit: 5, status: 429, says: 'Too many requests; try again later.' },
  'too-many-changes': {
    exit: 5,
    status: 429,
    says: 'Planners and agents have changed the schedule too often within an hour; try again when details.liftsAt has come.',
  },
  quota: { exit: 5, status: 429, says: 'The namespace has used up its quota; try again after the reset.' },
}

/** Errors of every verb: the store may be away, and the result of a write may be unknown. */
export const errorsOfAll = ['unavailable', 'commit-unknown', 'failure'] as const satisfies readonly ErrorCode[]

/**
 * Errors of doors before any verb is called, and errors of verbs that depend on the caller, such as
 * ranks and bounds.
 */
export const errorsOfDoors = [
  'not-allowed',
  'unauthenticated',
  'too-many',
  'too-many-changes',
] as const satisfies readonly ErrorCode[]

export type VerbErrorCode = Exclude<ErrorCode, (typeof errorsOfAll)[number] | (typeof errorsOfDoors)[number]>
