import type { Notify } from '../core/notice.ts'
import type { ScheduleSpec } from '../core/schedule.ts'
import type { Actor } from './actor.ts'
import type { Enqueued, NewRun, PolicyPatch, PutAnswer, PutOptions, QueueAnswer, QueueChange } from './port.ts'
import type { QueueView } from './view.ts'

/** One of several changes that happen together or not at all. */
export type Change =
  | { readonly kind: 'queue'; readonly name: string; readonly change: Omit<QueueChange, 'actor'> }
  | {
      readonly kind: 'schedule'
      readonly spec: ScheduleSpec
      readonly options: Omit<PutOptions, 'actor'>
      /** Why it is paused from the first; one that is there already stays as it is. */
      readonly pausedReason?: string
    }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'runs'; readonly runs: readonly ImportedRun[] }

/** Work that another program had in line. */
export interface ImportedRun extends NewRun {
  /** Why it was parked there, and is here. */
  readonly parkedReason?: string
  /** How many attempts it had used there. */
  readonly attempts?: number
}

/** What came of one of them. */
export type Changed =
  | { readonly kind: 'queue'; readonly name: string; readonly answer: QueueAnswer }
  | { readonly kind: 'schedule'; readonly name: string; readonly answer: PutAnswer }
  | { readonly kind: 'delete'; readonly name: string; readonly answer: 'deleted' | 'not-found' }
  | { readonly kind: 'runs'; readonly answers: readonly Enqueued[] }

/** The content of a file, read and found sound. */
export interface NewConfig {
  readonly source: string
  /** Of the text, so that the same text is known again. */
  readonly hash: string
  /** Of the text with the programs that it means where it lies: in another folder the same text means others. */
  readonly placedHash?: string
  /** Where the file lies, for people. */
  readonly file: string
  readonly queues: readonly NewConfigQueue[]
  readonly schedules: readonly ScheduleSpec[]
  readonly tokens: readonly { readonly name: string; readonly scope: string }[]
}

/** All that a file says of a queue. */
export interface NewConfigQueue {
  readonly name: string
  readonly policy: PolicyPatch
  readonly notify?: Notify
}

export interface ConfigOptions {
  readonly actor: Actor
  /** Whether it may delete more than half of what its source made. */
  readonly yes?: boolean
  /** Whether it takes over schedules of other content that nobody looks after. */
  readonly adopt?: boolean
}

export interface ConfigApplied {
  readonly queues: readonly ConfigQueue[]
  readonly schedules: readonly ConfigSchedule[]
  readonly tokens: readonly ConfigToken[]
}

export interface ConfigQueue {
  readonly name: string
  /** `left`: the file no longer names it, so nobody looks after it; it stays as it is, since work may be in it. */
  readonly answer: 'created' | 'updated' | 'unchanged' | 'left'
  readonly before: Pick<QueueView, 'policy' | 'notify'> | null
  readonly after: Pick<QueueView, 'policy' | 'notify'> | null
}

export interface ConfigSchedule {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly before: ScheduleSpec | null
  readonly after: ScheduleSpec | null
  /** Whether it was made by hand, and is looked after from now on. */
  readonly isTakenOver?: true
}

export interface ConfigToken {
  readonly name: string
  /** `absent`: nobody has made it yet; whoever does makes it with this scope. */
  readonly answer: 'set' | 'unchanged' | 'absent' | 'left'
  readonly scope: string
  readonly was: string | null
}

export interface ConfigView {
  readonly source: string
  readonly hash: string
  readonly file: string
  readonly appliedAt: number
  readonly actor: string
  readonly door: string
}

export interface ConfigFault {
  readonly file: string
  readonly says: string
  readonly at: number
}
