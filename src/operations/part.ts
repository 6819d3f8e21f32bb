import type { HoldReason } from '../core/hold-reason.ts'
import type { Target } from '../core/target.ts'
import type { RunView, ScheduleView } from '../store/views.ts'
import type { AnySection } from './config-section.ts'
import type { Candidate } from './explain/candidates.ts'
import type { AddedFields } from './fields/added-fields.ts'
import type { MoreVerbs, NounEntry } from './noun.ts'
import type { OperationContext } from './operation-context.ts'
import type { SubjectNames } from './present-subject.ts'
import type { HealthCheck } from './store/health-check.ts'
import type { KnowsToken } from './token/token-caller.ts'

/** The texts for a run source. */
export interface RunOrigin {
  /** Why a run from this source exists. */
  readonly sentence: (run: Pick<RunView, 'scheduleId' | 'payload'>) => string
  /** How it was requested, for its timeline: `by hand`. */
  readonly asked: string
  /** The subject of a run from this source, beyond its target. */
  readonly about?: (run: { readonly payload?: unknown }) => string
}

/** The values of a part's fields for the attempts of a run, by fence. */
export type AttemptFacts = (context: OperationContext, runId: string) => Promise<ReadonlyMap<number, object>>

/** Work that a schedule will make. */
export interface PlannedWork {
  readonly queue: string
  readonly schedule: string
  readonly target: Target | null
  readonly options: Readonly<Record<string, unknown>>
}

/** A schedule that is being explained, as parts receive it. */
export interface ScheduleInQuestion {
  readonly schedule: ScheduleView
  readonly now: number
  /** The candidates for its next instant. */
  readonly candidates: readonly Candidate[]
}

/**
 * What a part adds to the explanation of a schedule: lines under a title. Instants in them are ISO texts, which a terminal shows in the
 * reader's zone.
 */
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
  /** Reads the values of its fields for attempts. */
  readonly attemptFacts?: AttemptFacts
  /** Sections of a config file. */
  readonly config?: readonly AnySection[]
  /** Doctor checks. */
  readonly checks?: readonly HealthCheck[]
  /** The reasons of its holds, by code. */
  readonly holdReasons?: Readonly<Record<string, HoldReason>>
  /** Returns sentences for the explanation of a run. */
  readonly explainsRun?: (context: OperationContext, run: RunView) => Promise<readonly string[]>
  /** Returns lines for the explanation of a schedule, or nothing. */
  readonly explainsSchedule?: (context: OperationContext, question: ScheduleInQuestion) => Promise<ExplainedPart>
  /** Returns the names of the budgets that count such work. */
  readonly budgetsOf?: (context: OperationContext, work: PlannedWork) => Promise<readonly string[]>
  /** The names that it keeps, by the scope of a hold or budget that may be on them. */
  readonly subjects?: Readonly<Record<string, SubjectNames>>
  /** Finds the callers of tokens that the part issues itself. */
  readonly knowsToken?: KnowsToken
  /** The sources of its runs. */
  readonly origins?: Readonly<Record<string, RunOrigin>>
}
