import { defaultPolicy, type Policy } from '../../core/queue/policy.ts'
import { needOf, type Target } from '../../core/target.ts'

/** What somebody may want to be told of. */
export const noticeEvents = ['failure', 'park', 'recover', 'overdue'] as const
export type NoticeEvent = (typeof noticeEvents)[number]

/** The fields that say where each is told, and of what. */
export const notifyFields = {
  onFailure: 'failure',
  onPark: 'park',
  onRecover: 'recover',
  onOverdue: 'overdue',
} as const satisfies Readonly<Record<string, NoticeEvent>>
export type NotifyField = keyof typeof notifyFields

/** Where somebody wants to be told, of each event for itself. */
export type Notify = { readonly [Field in NotifyField]?: Target | undefined }

/** What is not named stays; `null` takes it away. */
export type NotifyPatch = { readonly [Field in NotifyField]?: Notify[Field] | null }

/** The queue that notices go through. */
export const noticesQueue = 'notices'

/** What that queue is created with: a receiver that is away for minutes is told all the same, and none is flooded. */
export const noticesPolicy: Policy = Object.freeze({
  ...defaultPolicy,
  maxConcurrent: 5,
  maxAttempts: 10,
  rateLimit: Object.freeze({ startsMax: 60, perMs: 60_000 }),
  onExhausted: 'fail',
})

/** After a notice the same is not told again of the same subject for so long, unless it has recovered in between. */
export const noticeQuietMs = 300_000
/** What has not started this long after it was due is overdue. */
export const overdueAfterMs = 300_000
/** What is overdue is told when it is found so once more, this long after it was first; less than the beats are apart. */
export const overdueAgainMs = 30_000
/** By then it is forgotten that something was found overdue once. Where there is very much, looks at the same are many beats apart. */
const sightingKeptMs = 3_600_000

const reasonLengthMax = 500
/** Of an output a notice has this many lines at most, and no more characters than all of its receivers can show. */
const outputLinesMax = 20
export const noticeOutputLengthMax = 4_000

/** What a notice says: the payload of its run. All of it is data, and the reason may be anybody's text. */
export interface Notice {
  readonly event: NoticeEvent
  /** An ISO text: whoever receives it is outside. */
  readonly at: string
  readonly namespace: string
  readonly schedule: string | null
  readonly queue: string
  readonly run: string | null
  readonly attempt: number | null
  readonly reason: string
  /** Occurrences of the schedule that failed in a row; of a recovery, how many had. */
  readonly failuresInARow: number | null
  /** Notices about the same that were held back since the last one. */
  readonly suppressed: number
  /** The last lines that the attempt put out, its secrets redacted; `null` where there are none. */
  readonly output: string | null
  /** Somebody asked for it to see whether it arrives; nothing has happened. */
  readonly test: boolean
}

/** A notice as it is sent. */
export interface SentNotice extends Notice {
  /** Where more is told of it; `null` where the worker that sends it knows no public address. */
  readonly link: string | null
}

/** The notice with a reason of bounded length, cut where no character is. */
export function noticeOf(notice: Notice): Notice {
  const { reason } = notice
  if (reason.length <= reasonLengthMax) return notice
  return { ...notice, reason: `${reason.slice(0, reasonLengthMax).replace(/[\ud800-\udbff]$/, '')}…` }
}

/** The last lines of an output, where there are any. */
export function lastLines(output: string): string | null {
  const lines = output.trimEnd().split('\n').slice(-outputLinesMax)
  const text = lines
    .join('\n')
    .slice(-noticeOutputLengthMax)
    .replace(/^[\udc00-\udfff]/, '')
  return text === '' ? null : text
}

/** What a worker sends of a notice: it knows the address at which people reach a server of this store. */
export function sentNotice(notice: Notice, publicUrl: string | undefined): SentNotice {
  const { run, schedule } = notice
  const path = run !== null ? `runs/${run}` : schedule !== null ? `schedules/${encodeURIComponent(schedule)}` : null
  const link = publicUrl === undefined || path === null ? null : `${publicUrl.replace(/\/+$/, '')}/api/${path}`
  // What was stored by an earlier version has neither of the two.
  return { ...notice, output: notice.output ?? null, test: notice.test ?? false, link }
}

/** Where an event is told: the first of these that says it, the nearest first, and nobody else. */
export function noticeTarget(event: NoticeEvent, levels: readonly (Notify | null | undefined)[]): Target | null {
  for (const level of levels) {
    for (const [field, of] of Object.entries(notifyFields)) {
      const target = of === event ? level?.[field as NotifyField] : undefined
      if (target !== undefined) return target
    }
  }
  return null
}

/** What is remembered of the notices about one subject and event. */
export interface NoticeMemory {
  /** When it was told last. */
  readonly lastAt: number | null
  readonly quietUntil: number
  readonly suppressed: number
  /** Somebody was told, and has not been told of its end. */
  readonly isOpen: boolean
}

export interface NoticeDecision {
  readonly isTold: boolean
  /** How many were held back before it, where it is told. */
  readonly suppressed: number
  readonly after: NoticeMemory
}

/** Decides whether something is told or held back. What opens a spell of trouble is followed until that is over. */
export function noticeDecision({ now, memory, opens }: NoticeQuestion): NoticeDecision {
  const { suppressed } = memory
  if (isQuiet(now, memory)) return { isTold: false, suppressed, after: { ...memory, suppressed: suppressed + 1 } }
  const after = { lastAt: now, quietUntil: now + noticeQuietMs, suppressed: 0, isOpen: memory.isOpen || opens }
  return { isTold: true, suppressed, after }
}

export interface NoticeQuestion {
  readonly now: number
  readonly memory: NoticeMemory
  /** Whether its end can be told of: only a schedule recovers, and only from what counts as a failure of it. */
  readonly opens: boolean
}

/** Nothing is quiet for longer than the longest quiet: after a clock that was far ahead everybody would wait until it is right. */
function isQuiet(now: number, { quietUntil }: NoticeMemory): boolean {
  return now < quietUntil && quietUntil - now <= noticeQuietMs
}

/**
 * Decides whether something overdue is told; `null` where there is nothing to remember. Found for the first time it may be
 * that somebody has just resumed it, or that the workers are just back and about to start it, so that it is only kept in
 * mind: its quiet is then a short one.
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
  /** What is remembered of recoveries. */
  readonly memory: NoticeMemory
  /** What is remembered of each kind of trouble. */
  readonly troubles: readonly NoticeMemory[]
  /** Whether somebody wants to be told of it. */
  readonly isWanted: boolean
}

export interface RecoveryDecision {
  /** How many notices about it were held back, recoveries and troubles. */
  readonly suppressed: number
  readonly after: NoticeMemory
  readonly troublesAfter: readonly NoticeMemory[]
}

/**
 * Decides whether a recovery counts, and with it whether the next trouble is told at once; `null` where the last one was a
 * moment ago. Something that fails and recovers by turns is then told of as failing until it has been well for a while.
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

/** Says everything that is wrong with where notifications go; what its kind demands, and whether it may send any, is judged at the doors. */
export function notifyProblems(notify: Readonly<Record<string, unknown>>): NotifyProblem[] {
  return Object.entries(notify).flatMap(([field, target]) => {
    if (!Object.hasOwn(notifyFields, field)) {
      const known = Object.keys(notifyFields).join(', ')
      return [{ field, problem: 'is nothing that can be told', expected: `one of ${known}` }]
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
  // It must arrive where the program whose work it is about has died, and with it what that program alone executes.
  return answer.need?.name === undefined ? null : `names its executor, which may be what is broken`
}
