import type { EventRules } from '../../core/json/matcher.ts'
import type { Actor } from '../../store/audit/actor.ts'
import type { NewRun } from '../../store/port.ts'

/** How deliveries of a routine are signed, and the name of the secret. */
export interface Signing {
  readonly style: 'standard' | 'github'
  readonly secret: { readonly secret: string }
}

/** A stored routine: which events it takes, and exactly one action. */
export interface RoutineSpec extends EventRules {
  readonly schedule?: string | undefined
  /** The run to enqueue. */
  readonly run?: RoutineRun | undefined
  /** Absent: events come only from authenticated callers. */
  readonly signing?: Signing | undefined
  readonly description?: string | undefined
}

/** The fields of each run of a routine; instants and keys of a single run are not among them. */
export type RoutineRun = Omit<NewRun, 'notBefore' | 'deadline' | 'idempotencyKey'>

export interface NewRoutine {
  readonly name: string
  readonly spec: RoutineSpec
  /** Why it takes no events yet; absent when it does. */
  readonly disabledReason?: string
}

export interface RoutineAnswer {
  readonly answer: 'created' | 'unchanged' | 'exists'
  readonly routine: RoutineView
}

export interface RoutineSwitch {
  /** Why it takes no more events; `null` enables it again. */
  readonly disabledReason: string | null
  readonly actor: Actor
}

export interface RoutineView {
  readonly id: string
  readonly name: string
  readonly spec: RoutineSpec
  readonly disabled: { readonly at: number; readonly reason: string } | null
  readonly createdAt: number
  readonly createdBy: string
  readonly updatedAt: number
}

export interface NewEvent {
  /** The sender's id of the delivery; absent when it will not be sent again. */
  readonly deliveryId?: string
  readonly type?: string
  readonly payload: unknown
  readonly actor: Actor
  /** Takes the event only if the name still belongs to this routine. */
  readonly routineId?: string
}

export const firstOutcomes = ['fired', 'not-matched', 'disabled', 'overlap', 'schedule-gone'] as const
/** The outcome of the first delivery of an event. */
export type EventOutcome = (typeof firstOutcomes)[number]

export type FireAnswer =
  | { readonly answer: 'not-found' }
  | {
      readonly answer: EventOutcome | 'duplicate'
      readonly eventId: string
      readonly deliveryId: string
      /** The run that it created; for an overlap the live run, for a duplicate the run of the first delivery. */
      readonly runId: string | null
      readonly reason: string | null
      /** Why the run does not start at once: its schedule is paused, or another run of it is live. */
      readonly kept?: 'held' | 'overlap'
    }

export interface RoutineEventView {
  readonly id: string
  readonly deliveryId: string
  readonly at: number
  readonly type: string | null
  readonly outcome: EventOutcome
  readonly reason: string | null
  readonly runId: string | null
  /** How often the same delivery was repeated. */
  readonly repeats: number
  readonly actor: string
  readonly door: string
  /** A payload too long to keep is cut text. */
  readonly payload: { readonly value: unknown; readonly truncated: boolean }
}

export const routineIds = { letter: 'o' } as const
export const eventIds = { letter: 'e' } as const

export const routineColumns =
  'id, ns, name, spec, disabled_at, disabled_reason, created_at, created_by, updated_at, deleted_at'
export const eventColumns = `id, ns, routine_id, delivery_id, at, type, outcome, reason, run_id, repeats, actor, door, payload,
  is_cut`
