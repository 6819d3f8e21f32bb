import type { HoldReason } from '../core/hold-reason.ts'
import type { RunView } from '../store/views.ts'
import type { AnySection } from './config-section.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { MoreVerbs, NounEntry } from './noun.ts'
import type { HealthCheck } from './store/health-check.ts'

/** Where a run may come from, in words. */
export interface RunOrigin {
  /** Why there is such a run. */
  readonly sentence: (run: Pick<RunView, 'scheduleId' | 'payload'>) => string
  /** How it was asked for, as its timeline says: `by a routine`. */
  readonly asked: string
  /** What such a run is about, where that is more than its target says. */
  readonly about?: (run: { readonly payload?: unknown }) => string
}

/** What a part brings to the table of verbs. */
export interface OperationPart {
  /** Nouns with their verbs, and verbs for nouns that the kernel has. */
  readonly nouns?: Readonly<Record<string, NounEntry | MoreVerbs>>
  /** What it adds to schedules, to the policies of queues and to runs. */
  readonly fields?: AddedFields
  /** What a config file may say of it: sections with entries that the file looks after. */
  readonly config?: readonly AnySection[]
  /** What `doctor` looks at besides. */
  readonly checks?: readonly HealthCheck[]
  /** Why it keeps work from starting, by code: the reasons of the holds that it writes. */
  readonly holdReasons?: Readonly<Record<string, HoldReason>>
  /** The sources of the runs that it makes. */
  readonly origins?: Readonly<Record<string, RunOrigin>>
}
