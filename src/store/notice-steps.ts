import type { NoticeEvent, Notify, NotifyField } from '../core/notice.ts'

/** Which notices are sent as a test: of what a schedule, a queue or the namespace would tell. */
export interface NoticeTest {
  readonly event?: NoticeEvent
  readonly schedule?: string
  readonly queue?: string
}

export type TestedNotices =
  | { readonly answer: 'sent'; readonly sent: readonly { readonly event: NoticeEvent; readonly run: string }[] }
  | { readonly answer: 'not-found' }

/** What is not named stays; `null` takes it away. */
export type NotifyPatch = { readonly [Field in NotifyField]?: Notify[Field] | null }

export interface NotifyAnswer {
  readonly answer: 'updated' | 'unchanged'
  readonly notify: Notify
}

export interface OverdueNoticed {
  /** The runs that tell it. */
  readonly runs: readonly string[]
  /** Where the next step goes on; `null` when all were looked at. */
  readonly next: string | null
}

export interface NotifySetting {
  /** The queue that says it; `null` for the whole namespace. */
  readonly queue: string | null
  /** `null` where it cannot be read, and nobody is told for it. */
  readonly notify: Notify | null
}

export interface NoticePage {
  readonly told: readonly NoticeView[]
  /** Where the list goes on; `null` at its end. */
  readonly next: string | null
}

export interface NoticeView {
  readonly event: NoticeEvent
  /** The name of the schedule it is about; `null` where it is about a queue. */
  readonly schedule: string | null
  readonly queue: string | null
  /** When it was told last. */
  readonly at: number
  /** How many were held back since then. */
  readonly suppressed: number
  /** It was told, and its end has not been. */
  readonly isOpen: boolean
}
