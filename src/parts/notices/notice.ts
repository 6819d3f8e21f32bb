import { isRecord } from '../../core/json/record.ts'
import { defaultPolicy, type Policy } from '../../core/queue/policy.ts'
import { needOf, type Target } from '../../core/target.ts'
import { events, type NoticeEvent, type NotifyField, notifyNames } from './notice-events.ts'

/** The targets of notifications, by event, and the calendars in whose hours they are held back. */
export type Notify = { readonly [Field in NotifyField]?: Target | undefined } & {
  readonly quiet?: readonly string[] | undefined
}

/** Fields that are not named stay; `null` removes one. */
export type NotifyPatch = { readonly [Field in keyof Notify]?: Notify[Field] | null }

/** The queue of notifications. */
export const noticesQueue = 'notices'

/** Its first policy: a receiver that is down for minutes still gets its notifications, and none is flooded. */
export const noticesPolicy: Policy = Object.freeze({
  ...defaultPolicy,
  maxConcurrent: 5,
  maxAttempts: 10,
  rateLimit: Object.freeze({ startsMax: 60, perMs: 60_000 }),
  onExhausted: 'fail',
})

/** After a notification the same event of the same subject is not sent again for this long, unless it has recovered in between. */
export const noticeQuietMs = 300_000
/** A run that has not started this long after it was due is overdue. */
export const overdueAfterMs = 300_000
/**
 * An overdue subject is notified when it is found again, at least this long after the first time. The checks are further apart
 * than this.
 */
export const overdueAgainMs = 30_000
/**
 * The first time that an overdue subject was found is forgotten after this long. With very many subjects, checks of the same
 * one are far apart.
 */
const sightingKeptMs = 3_600_000

const reasonLengthMax = 500
/** The output in a notification has at most this many lines, and no more characters than all receivers can show. */
const outputLinesMax = 20
export const noticeOutputLengthMax = 4_000

/** The content of a notification: the payload of its run. All of it is data, and the reason is untrusted text. */
export interface Notice {
  /** `held`: the notifications of quiet hours, in one. */
  readonly event: NoticeEvent | 'held'
  /** ISO text, for outside receivers. */
  readonly at: string
  readonly namespace: string
  readonly schedule: string | null
  /** `null` where it is about neither a schedule nor a queue. */
  readonly queue: string | null
  readonly run: string | null
  readonly attempt: number | null
  readonly reason: string
  /** Occurrences of the schedule that failed in a row; for a recovery, how many had. */
  readonly failuresInARow: number | null
  /** Notifications about the same subject that were suppressed since the last one; for `held`, how many there were. */
  readonly suppressed: number
  /** The last lines of the attempt's output, with secrets redacted; `null` where there are none. */
  readonly output: string | null
  /** A test message; nothing has happened. */
  readonly test: boolean
  /** What it is about, where that is neither a schedule nor a queue: `budget claude-day`. */
  readonly about?: string
  /** What happened to the subject, where the event alone does not say it: `is used to 80 %`. */
  readonly happened?: string
  /** Of a completed run: the text of its answer, untrusted. */
  readonly answer?: string | null
  /** What the attempt cost, where it was reported: `0.0421 USD`. */
  readonly cost?: string | null
  readonly durationMs?: number | null
  /** What the receiver is asked to decide. Prompts in it are inside fences. */
  readonly question?: string
}

export interface SentNotice extends Notice {
  /** A link to details; `null` where the sending worker knows no public address. */
  readonly link: string | null
}

/** Cuts the reason to a bounded length, at a character. */
export function noticeOf(notice: Notice): Notice {
  const { reason } = notice
  if (reason.length <= reasonLengthMax) return notice
  return { ...notice, reason: `${reason.slice(0, reasonLengthMax).replace(/[\ud800-\udbff]$/, '')}…` }
}

const answerBytesMax = 4_096

/** The text of an answer, cut at a character; an agent's is the field `text` of its result. */
export function answerText(result: unknown): string | null {
  const { text } = (isRecord(result) ? result : {}) as { readonly text?: unknown }
  const found = text ?? result
  if (found === undefined || found === null) return null
  const whole = typeof found === 'string' ? found : JSON.stringify(found)
  const bytes = Buffer.from(whole.toWellFormed())
  if (bytes.length <= answerBytesMax) return whole
  return `${bytes
    .subarray(0, answerBytesMax - 3)
    .toString()
    .replace(/\uFFFD+$/, '')}…`
}

/** The last lines of an output, or null. */
export function lastLines(output: string): string | null {
  const lines = output.trimEnd().split('\n').slice(-outputLinesMax)
  const text = lines
    .join('\n')
    .slice(-noticeOutputLengthMax)
    .replace(/^[\udc00-\udfff]/, '')
  return text === '' ? null : text
}

/** The notification with its link: the worker knows the public address of a server of this store. */
export function sentNotice(notice: Notice, publicUrl: string | undefined): SentNotice {
  const { run, schedule } = notice
  const path = run !== null ? `runs/${run}` : schedule !== null ? `schedules/${encodeURIComponent(schedule)}` : null
  const link = publicUrl === undefined || path === null ? null : `${publicUrl.replace(/\/+$/, '')}/api/${path}`
  // Notices stored by an earlier version have neither field.
  return { ...notice, output: notice.output ?? null, test: notice.test ?? false, link }
}

/** The target of an event: the first level that has one, the nearest first. */
export function noticeTarget(event: NoticeEvent, levels: readonly (Notify | null | undefined)[]): Target | null {
  for (const level of levels) {
    const target = level?.[events[event].field]
    if (target !== undefined) return target
  }
  return null
}

/** The state of the notifications about one subject and event. */
export interface NoticeMemory {
  /** When one was last sent. */
  readonly lastAt: number | null
  readonly quietUntil: number
  readonly suppressed: number
  /** Trouble was notified, and its end has not been notified yet. */
  readonly isOpen: boolean
}

export interface NoticeDecision {
  readonly isTold: boolean
  /** If it is sent: how many were suppressed before it. */
  readonly suppressed: number
  readonly after: NoticeMemory
}

/** Decides whether a notification is sent or suppressed. Trouble that opens a spell is tracked until it is over. */
export function noticeDecision({ now, memory, opens, isEach = false }: NoticeQuestion): NoticeDecision {
  const { suppressed } = memory
  if (isEach) return { isTold: true, suppressed: 0, after: { ...memory, lastAt: now } }
  if (isQuiet(now, memory)) return { isTold: false, suppressed, after: { ...memory, suppressed: suppressed + 1 } }
  const after = { lastAt: now, quietUntil: now + noticeQuietMs, suppressed: 0, isOpen: memory.isOpen || opens }
  return { isTold: true, suppressed, after }
}

export interface NoticeQuestion {
  readonly now: number
  readonly memory: NoticeMemory
  /** Whether a recovery can follow: only a schedule recovers, and only from what counts as its failure. */
  readonly opens: boolean
  /** Whether every notification is sent, however soon after another. */
  readonly isEach?: boolean
}

/** No quiet period exceeds the longest one: otherwise a clock that was far ahead would silence notifications until that time. */
function isQuiet(now: number, { quietUntil }: NoticeMemory): boolean {
  return now < quietUntil && quietUntil - now <= noticeQuietMs
}

/**
 * Decides whether something overdue is notified; `null` where nothing is to be stored. The first time, it may just have been
 * resumed, or the workers are back and about to start it, so it is only recorded, with a short quiet period.
 */
export function overdueDecision({ now, memory }: Omit<NoticeQuestion, 'opens'>): NoticeDecision | null {
  const { isOpen, quietUntil, suppressed } = memory
  if (isOpen || isQuiet(now, memory)) return null
  const isSeenAgain = quietUntil <= now && now - quietUntil < sightingKeptMs
  if (isSeenAgain) return noticeDecision({ now, memory, opens: true })
  return { isTold: false, suppressed, after: { ...memory, quietUntil: now + overdueAgainMs } }
}

/** The kinds of trouble that a recovery ends. */
export const troubles = ['failure', 'park', 'overdue'] as const satisfies readonly NoticeEvent[]

export interface RecoveryQuestion {
  readonly now: number
  /** The state of recovery notifications. */
  readonly memory: NoticeMemory
  /** The state of each kind of trouble. */
  readonly troubles: readonly NoticeMemory[]
  /** Whether a recovery notification is configured. */
  readonly isWanted: boolean
}

export interface RecoveryDecision {
  /** How many notifications about it were suppressed, recoveries and troubles. */
  readonly suppressed: number
  readonly after: NoticeMemory
  readonly troublesAfter: readonly NoticeMemory[]
}

/**
 * Decides whether a recovery counts, and so whether the next trouble is notified at once; `null` where the last one was a moment
 * ago. A subject that alternates counts as failing until it has been well for a while.
 */
export function recoveryDecision({ now, memory, troubles, isWanted }: RecoveryQuestion): RecoveryDecision | null {
  if (isQuiet(now, memory)) return null
  return {
    suppressed: troubles.reduce((sum, { suppressed }) => sum + suppressed, memory.suppressed),
    after: {
      lastAt: isWanted ? now : memory.lastAt,
      quietUntil: now + noticeQuietMs,
      suppressed: 0,
      isOpen: false,
    },
    troublesAfter: troubles.map((trouble) => ({ ...trouble, quietUntil: 0, suppressed: 0, isOpen: false })),
  }
}

export interface NotifyProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

const expected = 'an object with exactly one kind of target, that any worker may execute'

/** All problems of a notification setting. The doors check what its kind of target requires, and whether that may send notifications. */
export function notifyProblems(notify: Readonly<Record<string, unknown>>): NotifyProblem[] {
  return Object.entries(notify).flatMap(([field, target]) => {
    if (field === 'quiet') return []
    if (!notifyNames.some((name) => name === field)) {
      const known = notifyNames.join(', ')
      return [{ field, problem: 'is not an event of notifications', expected: `one of ${known}` }]
    }
    const problem = target === undefined ? null : targetProblem(target)
    return problem === null ? [] : [{ field, problem, expected }]
  })
}

function targetProblem(target: unknown): string | null {
  if (typeof target !== 'object' || target === null) return `is ${target === null ? 'null' : `a ${typeof target}`}`
  if (Array.isArray(target)) return 'is a list'
  const answer = needOf(target as Target)
  if ('problem' in answer) return answer.problem
  // A notification must arrive even after the program whose work it is about has died, together with the program's handlers.
  return answer.need?.kind === 'handler' ? 'names a handler, whose program may itself be down' : null
}
