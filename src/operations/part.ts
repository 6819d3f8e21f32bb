import type { HoldReason } from '../core/hold-reason.ts'
import type { Target } from '../core/target.ts'
import type { RunView, ScheduleView } from '../store/views.ts'
import type { AnySection } from './config-section.ts'
import type { Candidate } from './explain/candidates.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { MoreVerbs, NounEntry } from './noun.ts'
import type { OperationContext } from './operation-context.ts'
import type { HealthCheck } from './store/health-check.ts'
import type { KnowsToken } from './token/token-caller.ts'

/** The texts for a run source. */
export interface RunOrigin {
  /** Why such a run exists. */
  readonly sentence: (run: Pick<RunView, 'scheduleId' | 'payload'>) => string
  /** How it was requested, for its timeline: `by hand`. */
  readonly asked: string
  /** What such a run is about, beyond its target. */
  readonly about?: (run: { readonly payload?: unknown }) => string
}

/** What a part knows of the attempts of a run, by fence: values of its fields of an attempt. */
export type AttemptFacts = (context: OperationContext, runId: string) => Promise<ReadonlyMap<number, object>>

/** Work that a schedule will make. */
export interface PlannedWork {
  readonly queue: string
  readonly schedule: string
  readonly target: Target | null
  readonly options: Readonly<Record<string, unknown>>
}

/** A schedule that is explained, for the parts that know something of it. */
export interface ScheduleInQuestion {
  readonly schedule: ScheduleView
  readonly now: number
  /** The candidates for its next instant. */
  readonly candidates: readonly Candidate[]
}

/** What a part knows of a schedule: lines under a title. Instants in them are ISO texts, which a terminal shows in the reader's zone. */
export interface ExplainedPart {
  readonly title: string
  readonly lines: readonly string[]
}

/** What a part adds to the table of verbs. */
export interface OperationPart {
  /** Nouns with their verbs, and verbs for the kernel's nouns. */
  readonly nouns?: Readonly<Record<string, NounEntry | MoreVerbs>>
  /** Fields for schedules, queue policies and runs. */
  readonly fields?: AddedFields
  /** The values of its fields of an attempt. */
  readonly attemptFacts?: AttemptFacts
  /** Sections of a config file. */
  readonly config?: readonly AnySection[]
  /** Doctor checks. */
  readonly checks?: readonly HealthCheck[]
  /** The reasons of its holds, by code. */
  readonly holdReasons?: Readonly<Record<string, HoldReason>>
  /** What it knows of a run, in sentences for its explanation. */
  readonly explainsRun?: (context: OperationContext, run: RunView) => Promise<readonly string[]>
  /** What it knows of a schedule, for its explanation; nothing where it has no lines. */
  readonly explainsSchedule?: (context: OperationContext, question: ScheduleInQuestion) => Promise<ExplainedPart>
  /** The names of the budgets that count such work. */
  readonly budgetsOf?: (context: OperationContext, work: PlannedWork) => Promise<readonly string[]>
  /** Knows the callers of tokens that the part makes itself. */
  readonly knowsToken?: KnowsToken
  /** The sources of its runs. */
  readonly origins?: Readonly<Record<string, RunOrigin>>
}
