import { EventEmitter } from 'node:events'
import type { RunStatus } from '../core/run/run-state.ts'

/** One attempt, as every event about it names it. */
export interface AttemptName {
  readonly runId: string
  /** The number of the attempt. */
  readonly fence: number
  readonly queue: string
  readonly scheduleId: string | null
}

export interface HoldTold {
  readonly hold: string
  /** What it holds: `namespace`, `queue:mail`. */
  readonly on: string
  readonly reason: string
  readonly note: string | null
  readonly by: string
  readonly from: number
  readonly until: number | null
}

export interface RunStarted extends AttemptName {
  readonly source: string
  /** How long after it was due it started. */
  readonly latenessMs: number
  /** How long it had been in the queue. */
  readonly queueAgeMs: number
}

export interface RunEnded extends AttemptName {
  readonly status: RunStatus
  readonly reason: string
  readonly durationMs: number
  /** When it goes again; only of a run that does. */
  readonly nextEligibleAt?: number
}

/**
 * What the library emits, and logs under the same names. Names and fields are stable: people alert on them. `docs/events.md` lists
 * them for readers, and a test compares the two. A part declares its own events here, and brings their lines:
 *
 * `declare module '../../engine/events.ts' { interface EngineEvents { 'note.written': { readonly id: number } } }`
 */
export interface EngineEvents extends KernelEvents {}

/** The events that come without any part. */
export interface KernelEvents {
  'run.started': RunStarted
  'run.completed': RunEnded
  'run.failed': RunEnded
  'run.parked': RunEnded
  'run.cancelled': RunEnded
  'run.skipped': RunEnded
  /** An attempt has ended and another follows. */
  'run.retrying': RunEnded
  /** This worker no longer holds the run; it stopped what it was doing. */
  'run.lease-lost': AttemptName & { readonly because: 'taken-back' | 'not-renewed' }
  /** The commit of its end broke off, and retention removed the run before its end could be read. */
  'run.forgotten': AttemptName
  /** The end of an attempt could not be written, whatever was tried. */
  'run.unsettled': AttemptName & { readonly error: Error }
  /** A lease of another worker was taken back. */
  'run.reclaimed': {
    readonly runId: string
    readonly fence: number
    readonly status: RunStatus
    readonly reason: string
    readonly because: 'expired' | 'holder-dead'
    /** When it goes again; only of a run that does. */
    readonly nextEligibleAt?: number | undefined
  }
  'schedule.fired': { readonly schedule: string; readonly runId: string; readonly occurrenceAt: number }
  'schedule.skipped': {
    readonly schedule: string
    readonly from: number
    readonly count: number
    readonly reason: string
  }
  /** This process cannot work the schedule out; it is looked at again in a minute. */
  'schedule.broken': { readonly schedule: string; readonly error: Error }
  'schedule.overdue': { readonly schedule: string; readonly overdueMs: number }
  /** A hold was put, or was there when the worker started. */
  'hold.put': HoldTold
  'hold.lifted': HoldTold & { readonly because: 'lifted' | 'ended' }
  'store.repaired': { readonly what: string; readonly subject: string; readonly sentence: string }
  'store.unavailable': { readonly doing: string; readonly error: Error }
  'store.back': { readonly afterMs: number }
  /** Wake-ups of other processes do not arrive (`false`), or do again. */
  'store.hears': { readonly hears: boolean }
  /** Wall clock and monotonic clock moved apart. */
  'clock.jumped': { readonly byMs: number }
  /** The wall clock went back: nothing fires until it has caught up, or a minute has passed. */
  'clock.held': { readonly behindMs: number }
  /** A request could not be answered, or a webhook not be judged, for a reason that only the operator may know. */
  'door.failed': { readonly error: Error }
  'worker.started': { readonly workerId: string; readonly slots: number | null }
  'worker.stopping': { readonly workerId: string; readonly running: number }
  'worker.stopped': { readonly workerId: string; readonly forced: number }
  'worker.pruned': { readonly runs: number; readonly ledger: number; readonly other: number }
  /** A defect of Belfry: the loop goes on after a pause. */
  'worker.failed': { readonly loop: string; readonly error: Error }
}

export type EventName = keyof EngineEvents

/** How an event is logged. */
export interface EventLine<Event> {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** The line for people; programs read the fields. */
  readonly say: (event: Event) => string
}

/** The lines of events by their names. */
export type EventLines<Name extends EventName = EventName> = { readonly [Each in Name]: EventLine<EngineEvents[Each]> }

type Arguments = { readonly [Name in EventName]: [EngineEvents[Name]] }

/** Tells listeners what happened. What a listener throws is the listener's own matter, and must not end a run. */
export class Events extends EventEmitter<Arguments> {
  tell<Name extends EventName>(name: Name, event: EngineEvents[Name]): void {
    for (const listener of this.rawListeners(name)) {
      try {
        Reflect.apply(listener, this, [event])
      } catch (error) {
        // Nobody can handle it here, and swallowing it would hide a defect of the program that embeds us.
        process.emitWarning(error instanceof Error ? error : String(error), { detail: `in a listener of ${name}` })
      }
    }
  }
}

/** What an error says, and what to do about it where it says so. */
export function errorSentence({ message, hint }: Error & { readonly hint?: string | undefined }): string {
  return [message, ...(hint === undefined ? [] : [hint])].map((text) => `${text.replace(/\.$/, '')}.`).join(' ')
}

type EndEvent = `run.${'completed' | 'failed' | 'parked' | 'cancelled' | 'skipped' | 'retrying'}`

/** The event that tells what became of a run when its attempt ended. */
export function eventOfEnd(status: RunStatus): EndEvent {
  switch (status) {
    case 'completed':
    case 'failed':
    case 'parked':
    case 'cancelled':
    case 'skipped':
      return `run.${status}`
    default:
      return 'run.retrying'
  }
}
