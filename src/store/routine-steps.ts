import type { EventRules } from '../core/matcher.ts'
import type { Actor } from './actor.ts'
import type { NewRun } from './port.ts'

/** Routines: what is done when an event comes in. */
export interface RoutineSteps {
  /** Makes a routine. The same again changes nothing; a name that has another spec is taken. */
  createRoutine(routine: NewRoutine, options: { actor: Actor }): Promise<RoutineAnswer>
  /** Marks a routine as deleted; its name is free at once, and what it has made goes on. */
  deleteRoutine(name: string, options: { actor: Actor }): Promise<'deleted' | 'not-found'>
  /** Takes events again, or with a reason takes none until then. */
  switchRoutine(name: string, change: RoutineSwitch): Promise<'switched' | 'unchanged' | 'not-found'>
  /**
   * Takes an event in: writes down what became of it, and makes its run, both or neither. A delivery that came before
   * is answered with what it brought about then, and brings about nothing more.
   */
  fireRoutine(name: string, event: NewEvent): Promise<FireAnswer>
}

export interface RoutineReads {
  /** The routine that has this name now. */
  routine(name: string): Promise<RoutineView | null>
  /** The routines after a name, by name. */
  routines(page?: { after?: string; limit?: number }): Promise<RoutineView[]>
  /** What came in for a routine, newest first; `null` where nobody has that name. */
  routineEvents(name: string, page?: { before?: string; limit?: number }): Promise<RoutineEventView[] | null>
}

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
