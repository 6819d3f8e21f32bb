export interface BackfillRequest {
  readonly from: number
  /** The first instant that is not asked for; not after now. */
  readonly to: number
  /** Whether instants are done once more that have had a run of their own, or may have had one. */
  readonly again?: boolean
}

export type BackfillAnswer =
  | {
      readonly answer: 'made'
      /** Oldest first, as they go. */
      readonly made: readonly BackfilledRun[]
      readonly left: readonly LeftInstant[]
      /** Why they do not go at once: the schedule is paused, or each waits for the one before it. */
      readonly kept?: 'held' | 'overlap'
    }
  /** More than are made in one step; with `fitsUntil` as its end the stretch has as many as are. */
  | {
      readonly answer: 'too-many'
      readonly count: number
      readonly countIsAtLeast: boolean
      readonly most: number
      readonly fitsUntil: number
    }
  /** It has no instants that anybody could name: it runs once, after its own ends, or for hints and people only. */
  | { readonly answer: 'no-instants'; readonly because: 'once' | 'delay' | 'no-timing' }
  | { readonly answer: 'not-found' }

export interface BackfilledRun {
  readonly at: number
  readonly runId: string
}

/**
 * An instant for which nothing was made. `has-run`: it became a run when its time came. `made-before`: somebody asked for
 * it before. `forgotten`: it is older than the ledger keeps, so that nobody knows whether it has run. `due`: it has not been decided over yet, and the next look of a worker does it. The other two lie outside of
 * what the schedule says of itself.
 */
export interface LeftInstant {
  readonly at: number
  readonly because: 'has-run' | 'made-before' | 'forgotten' | 'due' | 'before-start' | 'after-end'
  readonly runId?: string
}
