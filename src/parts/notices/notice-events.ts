/** An event that receivers are notified of. */
interface EventEntry {
  readonly event: string
  /**
   * Which settings may name its receiver: those of all work (a schedule, a queue, the namespace), of schedules only, or of the
   * namespace only.
   */
  readonly at: 'work' | 'schedule' | 'namespace'
  readonly says: string
  /** The words before the receiver in the sentences about a schedule. */
  readonly clause: string
  /** What the subject has done, in the title of a message. */
  readonly happened: string
  /** What a notification is about. */
  readonly words: string
  /** Whether every notification is sent, however soon after another. */
  readonly isEach?: true
  /**
   * Events for one receiver that are raised together are sent as one notification, with these words for the subjects and for
   * what they did.
   */
  readonly together?: { readonly what: string; readonly happened: string }
}

/** The events by the field that names their receiver. Another part raises an event of its own with `raise`, and adds it here. */
export const receivers = {
  onFailure: {
    event: 'failure',
    at: 'work',
    says: 'Notify this target when a run has failed for good: {message kinds}.',
    clause: 'on a failure',
    happened: 'failed',
    words: 'a failure',
  },
  onPark: {
    event: 'park',
    at: 'work',
    says: 'Notify this target when a run is parked and needs a person.',
    clause: 'when a run is parked',
    happened: 'was parked',
    words: 'a parked run',
  },
  onRecover: {
    event: 'recover',
    at: 'work',
    says: 'Notify this target when a schedule that failed or was overdue has recovered.',
    clause: 'on a recovery',
    happened: 'works again',
    words: 'a recovery',
  },
  onOverdue: {
    event: 'overdue',
    at: 'work',
    says: 'Notify this target when a schedule is overdue by five minutes.',
    clause: 'when overdue',
    happened: 'is overdue',
    words: 'something overdue',
  },
  onComplete: {
    event: 'complete',
    at: 'schedule',
    says: 'Send this target the answer of each completed run, except no-ops.',
    clause: 'with each answer',
    happened: 'completed',
    words: 'an answer',
    isEach: true,
  },
  onPermission: {
    event: 'permission',
    at: 'work',
    says: 'Notify this target when an agent was denied tools.',
    clause: 'when tools are denied',
    happened: 'was denied tools',
    words: 'denied tools',
  },
  onMissed: {
    event: 'missed',
    at: 'work',
    says: 'Notify this target when a prompt was missed and waits for a decision.',
    clause: 'when missed',
    happened: 'was missed',
    words: 'something missed',
    isEach: true,
    together: { what: 'prompts', happened: 'were missed' },
  },
  onProposal: {
    event: 'proposal',
    at: 'work',
    says: 'Notify this target of proposals.',
    clause: 'on a proposal',
    happened: 'has a proposal',
    words: 'a proposal',
    isEach: true,
  },
  onExpiring: {
    event: 'expiring',
    at: 'work',
    says: 'Notify this target a day before a task expires.',
    clause: 'before it expires',
    happened: 'expires soon',
    words: 'something that expires',
    isEach: true,
    together: { what: 'tasks', happened: 'expire soon' },
  },
  onBudget: {
    event: 'budget',
    at: 'namespace',
    says: 'Notify this target when a budget is used to 80 % and to 100 %.',
    clause: '',
    happened: 'is used up',
    words: 'a budget',
    isEach: true,
  },
  onAccount: {
    event: 'account',
    at: 'namespace',
    says: 'Notify this target when an account is blocked, and when it is open again.',
    clause: '',
    happened: 'is blocked',
    words: 'an account',
    isEach: true,
  },
  onStop: {
    event: 'stop',
    at: 'namespace',
    says: 'Notify this target when work is stopped, and when it goes on.',
    clause: '',
    happened: 'is stopped',
    words: 'a stop',
    isEach: true,
  },
} as const satisfies Readonly<Record<string, EventEntry>>

export type NotifyField = keyof typeof receivers
export type NoticeEvent = (typeof receivers)[NotifyField]['event']

export const notifyNames = Object.keys(receivers) as NotifyField[]
export const noticeEvents = Object.values(receivers).map(({ event }) => event) as [NoticeEvent, ...NoticeEvent[]]

/** The fields whose receivers can be named there. */
export type FieldAt<Place extends EventEntry['at']> = {
  [Field in NotifyField]: (typeof receivers)[Field]['at'] extends Place ? Field : never
}[NotifyField]

export function fieldsAt<Place extends EventEntry['at']>(...places: readonly Place[]): FieldAt<Place>[] {
  return notifyNames.filter((field) => places.includes(receivers[field].at as Place)) as FieldAt<Place>[]
}

/** The event of an entry, by its name. */
export const events = Object.fromEntries(
  Object.entries(receivers).map(([field, entry]) => [entry.event, { ...entry, field }]),
) as Readonly<Record<NoticeEvent, EventEntry & { readonly field: NotifyField }>>
