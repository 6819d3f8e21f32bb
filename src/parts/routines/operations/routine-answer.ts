import type { AddedToRun, StoredFields } from '../../../core/added.ts'
import type { StoredOf } from '../../../core/field-table.ts'
import type { Match } from '../../../core/json/matcher.ts'
import { executionFields, workFields } from '../../../core/run/work-fields.ts'
import { runFields } from '../../../operations/run/run-input.ts'
import type { ExecutionOptions } from '../../../operations/target/execution-options.ts'
import type { FireAnswer, RoutineEventView, RoutineRun, RoutineView, Signing } from '../routine-spec.ts'

export const shownFields = { ...workFields, dedupeKey: runFields.dedupeKey, ...executionFields }

/** The fields of a routine's runs, as in its input. */
export interface RoutineRunShown extends StoredOf<typeof shownFields>, StoredFields<AddedToRun> {}

export interface Routine {
  readonly id: string
  readonly name: string
  readonly description?: string
  readonly type?: readonly string[]
  readonly match?: Match
  readonly schedule?: string
  readonly run?: RoutineRunShown
  readonly signing?: Signing
  /** The path of its webhooks on any server of this store; `null` when it takes none. */
  readonly hook: string | null
  readonly enabled: boolean
  readonly disabled: RoutineView['disabled']
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
}

export function routineOf({ spec, ...state }: RoutineView): Routine {
  const { description, type, match, schedule, run, signing } = spec
  return {
    ...state,
    ...(description !== undefined && { description }),
    ...(type !== undefined && { type }),
    ...(match !== undefined && { match }),
    ...(schedule !== undefined && { schedule }),
    ...(run !== undefined && { run: shownRun(run) }),
    ...(signing !== undefined && { signing }),
    hook: signing === undefined ? null : hookOf(state.name),
    enabled: state.disabled === null,
  }
}

function shownRun({ options = {}, onExhausted: _, ...run }: RoutineRun): RoutineRunShown {
  const { maxAttempts, ...rest } = options as ExecutionOptions
  return { ...run, ...rest, ...(maxAttempts !== undefined && { attempts: maxAttempts }) }
}

export function hookOf(name: string): string {
  return `/hooks/${encodeURIComponent(name)}`
}

export interface RoutineEvent extends Omit<RoutineEventView, 'runId'> {
  readonly run: string | null
}

export function eventOf({ runId, ...event }: RoutineEventView): RoutineEvent {
  return { ...event, run: runId }
}

type Taken = Exclude<FireAnswer, { readonly answer: 'not-found' }>

export interface EventTaken {
  readonly outcome: Taken['answer']
  readonly event: string
  readonly deliveryId: string
  /** The run that it created; for an overlap the live run, for a duplicate the run of the first delivery. */
  readonly run: string | null
  readonly reason: string | null
  readonly kept?: 'held' | 'overlap'
}

export function takenOf({ answer, eventId, deliveryId, runId, reason, kept }: Taken): EventTaken {
  return { outcome: answer, event: eventId, deliveryId, run: runId, reason, ...(kept !== undefined && { kept }) }
}
