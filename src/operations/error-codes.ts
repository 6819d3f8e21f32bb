import type { ErrorCode } from '../core/error.ts'

/** What a door says of an error: the exit code of a command, the status of an HTTP answer. */
export interface CodeEntry {
  readonly exit: 1 | 2 | 3 | 4 | 5 | 6
  readonly status: 400 | 401 | 403 | 404 | 409 | 429 | 500 | 503
  readonly says: string
}

/** The exit code of a command that did what it was asked for. */
export const exitOk = 0

/** Exit code and status follow from the code alone, so that every door tells the same thing apart. */
export const errorCodes: { readonly [Code in ErrorCode]: CodeEntry } = {
  failure: { exit: 1, status: 500, says: 'Something went wrong that nobody foresaw, or what was asked for failed.' },
  invalid: {
    exit: 2,
    status: 400,
    says: 'The input is refused whole; details.problems tells everything wrong with it.',
  },
  'not-found': { exit: 3, status: 404, says: 'What is named does not exist, or not any more.' },
  conflict: { exit: 4, status: 409, says: 'It does not fit how things stand; look again, and decide anew.' },
  unavailable: { exit: 5, status: 503, says: 'The store or the answer cannot be had now; the same may work later.' },
  'commit-unknown': {
    exit: 5,
    status: 503,
    says: 'The write may or may not have happened; look before it is tried again.',
  },
  'not-allowed': { exit: 6, status: 403, says: 'Whoever asks may not do this.' },
  unauthenticated: { exit: 6, status: 401, says: 'Nobody knows who asks: there is no token, or none that is good.' },
  'too-many': { exit: 5, status: 429, says: 'It is asked too often; the same may be asked a little later.' },
}

/** What every verb may answer: the store may be away, and a write of it may end in the dark. */
export const errorsOfAll = ['unavailable', 'commit-unknown', 'failure'] as const satisfies readonly ErrorCode[]

/** What doors answer before any verb is called: whether somebody is allowed to ask is theirs to judge. */
export const errorsOfDoors = ['not-allowed', 'unauthenticated', 'too-many'] as const satisfies readonly ErrorCode[]

/** What a verb may answer besides. */
export type VerbErrorCode = Exclude<ErrorCode, (typeof errorsOfAll)[number] | (typeof errorsOfDoors)[number]>
