import type { RunView } from '../store/view.ts'
import type { Examination } from './store/examination.ts'
import type { NounEntry } from './table.ts'

/** Where a run may come from, in words. */
export interface RunOrigin {
  /** Why there is such a run. */
  readonly sentence: (run: Pick<RunView, 'scheduleId'>) => string
  /** How it was asked for, as its timeline says: `by a routine`. */
  readonly asked: string
}

/** What a part brings to the table of verbs. */
export interface OperationPart {
  readonly nouns?: Readonly<Record<string, NounEntry>>
  /** What `doctor` looks at besides. */
  readonly checks?: readonly Examination[]
  /** The sources of the runs that it makes. */
  readonly origins?: Readonly<Record<string, RunOrigin>>
}
