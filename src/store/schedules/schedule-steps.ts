import type { Hold } from '../../core/hold.ts'
import type { AuthorKind } from '../../core/schedule/hint-author.ts'
import type { Clamped } from '../../core/schedule/hint-bounds.ts'
import type { Actor } from '../audit/actor.ts'
import type { RunSource } from '../port.ts'
import type { ScheduleView } from '../views.ts'
import type { HintWish } from './steer-schedule.ts'

export interface PutOptions {
  /** `create` refuses a name that has another spec; `put` creates or updates. */
  readonly mode: 'create' | 'put'
  readonly actor: Actor
  readonly reason?: string
  /** Refuses to overwrite any other version. */
  readonly ifVersion?: number
  /** Refuses to overwrite any other schedule of that name, such as one created again. */
  readonly ifId?: string
  /** The config file that writes. Any other caller is refused if a file manages the schedule. */
  readonly source?: string
  /** Whether that file takes over a schedule of other content that no file manages. */
  readonly adopt?: boolean
}

export interface DeleteOptions {
  readonly cancelLeased?: boolean
  readonly actor?: Actor
  /** The config file that writes. Any other caller is refused if a file manages the schedule. */
  readonly source?: string
}

/** A change by a caller, for parts with schedules that follow this one. */
export interface Steered {
  readonly id: number
  readonly name: string
  readonly how: 'paused' | 'resumed' | 'deleted' | 'held' | 'released'
  /** When the pause ends by itself. */
  readonly until?: number | undefined
  /** The hold that was put or lifted. */
  readonly hold?: Hold
  readonly cancelLeased?: boolean
  readonly actor?: Actor | undefined
}

export interface PutAnswer {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'exists' | 'version-differs'
  readonly schedule: ScheduleView
  readonly changed: string[]
  /** Whether its queue was created with it. */
  readonly queueCreated?: true
}

/** A hint of a caller, whose kind follows from its door and token. Absent: a person. */
export type NewHint = HintWish & { readonly author: string; readonly by?: AuthorKind | undefined }

export type HintAnswer =
  /** Without an instant, the next run waits for the end of the named run, or there is no next run. */
  | {
      readonly answer: 'set'
      readonly nextRunAt: number | null
      readonly waitsFor: string | null
      /** The values that bounds changed. */
      readonly clamped?: Clamped
      /** The author of the hint that outranks it: it waits until that has ended. */
      readonly outrankedBy?: AuthorKind
      /** The schedule without the hint and with it. */
      readonly before: ScheduleView
      readonly after: ScheduleView
    }
  | { readonly answer: 'not-found' }

export type RunNowAnswer =
  /** `kept` says why it does not start at once: its schedule is paused, or another run of it is live. */
  | {
      readonly answer: 'created'
      readonly id: string
      readonly kept?: 'held' | 'overlap'
      /** Closed calendars do not keep the run from starting. */
      readonly beyondCalendars?: true
    }
  | { readonly answer: 'overlap'; readonly liveRunId: string }
  | { readonly answer: 'not-found' }

export interface Fired {
  readonly runs: {
    readonly id: string
    readonly schedule: string
    readonly occurrenceAt: number
    readonly source: RunSource
    /** The run is parked until a person decides about it. */
    readonly isAsked?: true
  }[]
  readonly skipped: {
    readonly schedule: string
    readonly from: number
    readonly count: number
    /** The count stopped at a limit. */
    readonly countIsAtLeast?: true
    readonly reason: string
  }[]
  /** Schedules that this process cannot evaluate; it tries again in a minute. */
  readonly broken: { readonly schedule: string; readonly error: Error }[]
  /** How many schedules were read; if this equals the limit there may be more. */
  readonly schedules: number
  readonly more: boolean
}

export interface Repaired {
  readonly what: 'chain' | 'key-gate' | 'overlap-gate' | 'queue'
  readonly subject: string
  readonly sentence: string
}
