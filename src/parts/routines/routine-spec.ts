import type { EventRules } from '../../core/json/matcher.ts'
import type { Actor } from '../../store/audit/actor.ts'
import type { NewRun } from '../../store/port.ts'

/** How the deliveries of a routine are signed, and by which secret. Of the secret only its name is known. */
export interface Signing {
  readonly style: 'standard' | 'github'
  readonly secret: { readonly secret: string }
}

/** A routine as it is stored: which events it takes, and exactly one of what it does then. */
export interface RoutineSpec extends EventRules {
  /** Fires the schedule of this name. */
  readonly schedule?: string | undefined
  /** Enqueues a run like this. */
  readonly run?: RoutineRun | undefined
  /** Absent: events come only from those whom the doors let in. */
  readonly signing?: Signing | undefined
  readonly description?: string | undefined
}

/** What each run of a routine is like; instants and keys of one single run have no place in it. */
export type RoutineRun = Omit<NewRun, 'notBefore' | 'deadline' | 'idempotencyKey'>

export interface NewRoutine {
  readonly name: string
  readonly spec: RoutineSpec
  /** Why it takes no events yet; absent where it does. */
  readonly disabledReason?: string
}

export interface RoutineAnswer {
  readonly answer: 'created' | 'unchanged' | 'exists'
  readonly routine: RoutineView
}

export interface RoutineSwitch {
  /** Why it takes no more events; `null` where it takes them again. */
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
  /** What its sender calls it; absent where nobody will send it again. */
  readonly deliveryId?: string
  readonly type?: string
  readonly payload: unknown
  readonly actor: Actor
  /** Only if the name is still that of this routine. */
  readonly routineId?: string
}

export const firstOutcomes = ['fired', 'not-matched', 'disabled', 'overlap', 'schedule-gone'] as const
/** What became of an event when it first came. */
export type EventOutcome = (typeof firstOutcomes)[number]

export type FireAnswer =
  | { readonly answer: 'not-found' }
  | {
      readonly answer: EventOutcome | 'duplicate'
      readonly eventId: string
      readonly deliveryId: string
      /** The run that it made; of an overlap the live run, and of a duplicate the run of the first delivery. */
      readonly runId: string | null
      readonly reason: string | null
      /** Why the run does not go at once: its schedule is paused, or another run of it is live. */
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
  /** How often the same delivery came again. */
  readonly repeats: number
  readonly actor: string
  readonly door: string
  /** What was too long to be kept whole is a text that was cut. */
  readonly payload: { readonly value: unknown; readonly truncated: boolean }
}

export const routineIds = { letter: 'o' } as const
export const eventIds = { letter: 'e' } as const

export const routineColumns =
  'id, ns, name, spec, disabled_at, disabled_reason, created_at, created_by, updated_at, deleted_at'
export const eventColumns = `id, ns, routine_id, delivery_id, at, type, outcome, reason, run_id, repeats, actor, door, payload,
  is_cut`
