import type { Repository } from './repository.ts'

/** One thing that is always true of the repository, with the proof that a breach of it would be noticed. */
export interface Rule {
  readonly sentence: string
  /** Every breach, in words that start with its place. */
  offenders(repository: Repository): string[]
  readonly broken: readonly BrokenSample[]
  /** Files that look like a breach and are none. */
  readonly kept: readonly Files[]
}

/** Texts by path. */
export type Files = Readonly<Record<string, string>>

/** A few files that break the rule, and what must be said of them, breach by breach. */
export interface BrokenSample {
  readonly files: Files
  readonly says: readonly RegExp[]
}
