import type { Outcome } from './verdict.ts'

/** What an attempt does outside the store as its very last act, such as the rename of a file. */
export interface LastEffect {
  /**
   * Locks what other writers to the same place lock too. It comes before `take`, in the same transaction; effects lock by ascending
   * numbers.
   */
  readonly locks?: { readonly order: number; take(): Generator<unknown, unknown, never> } | undefined
  /**
   * Called by the step that ends the attempt, after its fence was checked and before the transaction commits: no other holder can have the run
   * meanwhile. Returns the outcome to record. It is short and synchronous, and it must be safe to repeat: the step may be repeated, and it may be
   * rolled back afterwards.
   */
  take(outcome: Outcome): Outcome
}
