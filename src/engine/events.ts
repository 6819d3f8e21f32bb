import { EventEmitter } from 'node:events'
import type { RunStatus } from '../core/run/run-state.ts'
import type { Usage } from '../core/run/usage.ts'

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
  /** What the hold is on: `namespace`, `queue:mail`. */
  readonly on: string
  readonly reason: string
  readonly note: string | null
  readonly by: string
  readonly from: number
  readonly until: number | null
}

export interface RunStarted extends AttemptName {
  readonly source: string
  /** How long after its due instant the run started. */
  readonly latenessMs: number
  /** How long the run had been in the queue. */
  readonly queueAgeMs: number
}

export interface RunEnded extends AttemptName {
  readonly status: RunStatus
  readonly reason: string
  readonly durationMs: number
  /** Why the run exists; empty where the run was removed meanwhile. */
  readonly source: string
  /** When its next attempt may start; only for a run that is retried. */
  readonly nextEligibleAt?: number
}

/**
 * The events that the library emits, and logs under the same names. Names and fields are stable: people alert on them.
 * `docs/events.md` lists them, and a test compares the two. A part declares its own events here, and adds their log lines:
 *
 * `declare module '../../engine/events.ts' { interface EngineEvents { 'note.written': { readonly id: number } } }`
 */
export interface EngineEvents extends KernelEvents {}

/** The events of the kernel. */
export interface KernelEvents {
  'run.started': RunStarted
  'run.completed': RunEnded
  'run.failed': RunEnded
  'run.parked': RunEnded
  'run.cancelled': RunEnded
  'run.skipped': RunEnded
  /** An attempt has ended and another follows. */
  'run.retrying': RunEnded
  /** What an ended attempt reported as used. */
  'run.used': AttemptName & { readonly kind: string; readonly name: string; readonly usage: Usage }
  /** This worker no longer holds the run, and stopped executing it. */
  'run.lease-lost': AttemptName & { readonly because: 'taken-back' | 'not-renewed' }
  /** The commit of its end failed with an unknown result, and retention removed the run before its end could be read. */
  'run.forgotten': AttemptName
  /** The end of an attempt could not be written, even after retries. */
  'run.unsettled': AttemptName & { readonly error: Error }
  /** A lease of another worker was reclaimed. */
  'run.reclaimed': {
    readonly runId: string
    readonly fence: number
    readonly status: RunStatus
    readonly reason: string
    readonly because: 'expired' | 'holder-dead'
    /** When its next attempt may start; only for a run that is retried. */
    readonly nextEligibleAt?: number | undefined
  }
  /** Missed one-shots wait for the decision of a person. */
  'schedule.asked': { readonly schedules: readonly string[] }
  'schedule.fired': {
    readonly schedule: string
    readonly runId: string
    readonly occurrenceAt: number
    /** What gave the instant: the baseline, a hint, a bound. */
    readonly source: string
  }
  'schedule.skipped': {
    readonly schedule: string
    readonly from: number
    readonly count: number
    readonly reason: string
  }
  /** This process cannot evaluate the schedule; it tries again in a minute. */
  'schedule.broken': { readonly schedule: string; readonly error: Error }
  'schedule.overdue': { readonly schedule: string; readonly overdueMs: number }
  /** A hold was put, or existed when the worker started. */
  'hold.put': HoldTold
  'hold.lifted': HoldTold & { readonly because: 'lifted' | 'ended' }
  'store.repaired': { readonly what: string; readonly subject: string; readonly sentence: string }
  'store.unavailable': { readonly doing: string; readonly error: Error }
  'store.back': { readonly afterMs: number }
  /** Notifications from other processes do not arrive (`false`), or arrive again. */
  'store.hears': { readonly hears: boolean }
  /** Wall clock and monotonic clock moved apart. */
  'clock.jumped': { readonly byMs: number }
  /** The wall clock went back: nothing fires until it has caught up, or a minute has passed. */
  'clock.held': { readonly behindMs: number }
  /** A request could not be answered, or a webhook not be checked, for a reason that only the operator may see. */
  'door.failed': { readonly error: Error }
  'worker.started': { readonly workerId: string; readonly slots: number | null }
  /** The worker fires and leases nothing, because its process or its machine is stopped. */
  'worker.halted': { readonly workerId: string; readonly reason: string }
  'worker.resumed': { readonly workerId: string }
  'worker.stopping': { readonly workerId: string; readonly running: number; readonly graceMs: number }
  'worker.waiting': { readonly workerId: string; readonly running: number; readonly graceMs: number }
  'worker.stopped': { readonly workerId: string; readonly forced: number }
  'worker.pruned': { readonly runs: number; readonly ledger: number; readonly other: number }
  /** A defect of Belfry: the loop continues after a pause. */
  'worker.failed': { readonly loop: string; readonly error: Error }
}

export type EventName = keyof EngineEvents

/** How an event is logged. */
export interface EventLine<Event> {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  /** The line for people; programs read the fields. */
  readonly say: (event: Event) => string
}

export type EventLines<Name extends EventName = EventName> = { readonly [Each in Name]: EventLine<EngineEvents[Each]> }

type Arguments = { readonly [Name in EventName]: [EngineEvents[Name]] }

/** Emits events to listeners. An error in a listener must not end a run. */
export class Events extends EventEmitter<Arguments> {
  tell<Name extends EventName>(name: Name, event: EngineEvents[Name]): void {
    for (const listener of this.rawListeners(name)) {
      try {
        Reflect.apply(listener, this, [event])
      } catch (error) {
        // The error cannot be handled here, and ignoring it would hide a defect of the embedding
        // program.
        process.emitWarning(error instanceof Error ? error : String(error), { detail: `in a listener of ${name}` })
      }
    }
  }
}

/** The message of an error with its hint, if any. */
export function errorSentence({ message, hint }: Error & { readonly hint?: string | undefined }): string {
  return [message, ...(hint === undefined ? [] : [hint])].map((text) => `${text.replace(/\.$/, '')}.`).join(' ')
}

type EndEvent = `run.${'completed' | 'failed' | 'parked' | 'cancelled' | 'skipped' | 'retrying'}`

/** The event for the end of an attempt. */
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
