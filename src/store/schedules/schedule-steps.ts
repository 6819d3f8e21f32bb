import type { Actor } from '../audit/actor.ts'
import type { ScheduleView } from '../views.ts'

export interface PutOptions {
  /** `create` refuses a name that has another spec; `put` creates or updates. */
  readonly mode: 'create' | 'put'
  readonly actor: Actor
  readonly reason?: string
  /** Refuses to write over any other version. */
  readonly ifVersion?: number
  /** Refuses to write over any other schedule of that name, such as one that was made anew. */
  readonly ifId?: string
  /** The source whose file asks; what a file looks after is refused to everybody else. */
  readonly source?: string
  /** Whether that file takes over a schedule of other content that nobody looks after. */
  readonly adopt?: boolean
}

export interface DeleteOptions {
  readonly cancelLeased?: boolean
  readonly actor?: Actor
  /** The source whose file asks; what a file looks after is refused to everybody else. */
  readonly source?: string
}

export interface PutAnswer {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'exists' | 'version-differs'
  readonly schedule: ScheduleView
  readonly changed: string[]
  /** Whether the queue that it names was made with it. */
  readonly queueCreated?: true
}

export type NewHint = {
  readonly expiresAt: number
  readonly reason: string
  readonly author: string
} & ({ readonly kind: 'interval'; readonly ms: number } | { readonly kind: 'oneshot'; readonly at: number })

export type HintAnswer =
  /** Without an instant the next run waits for the end of the run it names, or there is none. */
  | { readonly answer: 'set'; readonly nextRunAt: number | null; readonly waitsFor: string | null }
  | { readonly answer: 'not-found' }

export type RunNowAnswer =
  /** `kept` says why it does not go at once: its schedule is paused, or another run of it is live. */
  | { readonly answer: 'created'; readonly id: string; readonly kept?: 'held' | 'overlap' }
  | { readonly answer: 'overlap'; readonly liveRunId: string }
  | { readonly answer: 'not-found' }

export interface Fired {
  readonly runs: { readonly id: string; readonly schedule: string; readonly occurrenceAt: number }[]
  readonly skipped: {
    readonly schedule: string
    readonly from: number
    readonly count: number
    /** The calendar was too long to be counted to its end. */
    readonly countIsAtLeast?: true
    readonly reason: string
  }[]
  /** Schedules that this process cannot work out; they are looked at again in a minute. */
  readonly broken: { readonly schedule: string; readonly error: Error }[]
  /** Schedules that were looked at; as many as asked for means that there may be more. */
  readonly schedules: number
  readonly more: boolean
}

export interface Repaired {
  readonly what: 'chain' | 'key-gate' | 'overlap-gate' | 'queue'
  readonly subject: string
  readonly sentence: string
}
