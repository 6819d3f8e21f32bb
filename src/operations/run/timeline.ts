import { z } from 'zod'
import { standsFor } from '../../core/timing/stands-for.ts'
import type { RunView } from '../../store/views.ts'
import { deathOf, type Fleet, workerName } from '../explain/fleet.ts'
import { about, clause } from '../explain/words.ts'
import { isoText } from '../input/instant.ts'
import type { RunOrigin } from '../part.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../schema/output-schema.ts'
import type { ExplainedAttempt } from './explained-attempts.ts'

const timelineWords = [
  'decided',
  'nominal',
  'due',
  'fired',
  'enqueued',
  'started',
  'attempt-ended',
  'cancel-requested',
  'parked',
  'ended',
  'waits-until',
  'lease-expires',
] as const

export const timelineEvent = z
  .strictObject({
    at: instantOutput('When.'),
    what: z.enum(timelineWords).describe('The event.'),
    detail: text('Details, in words.'),
  })
  .describe('A past or future event of a run.')
export type TimelineEvent = AnswerOf<typeof timelineEvent>

/** How late a run is, or was: never early, unless the spread moved it. */
export const lateness = z
  .strictObject({
    against: z
      .enum(['due', 'not-before', 'enqueued'])
      .describe('What it is measured against: when it was due, could start at the earliest, or was created.'),
    at: instantOutput('The instant it is measured against.'),
    firedMs: count('How late its occurrence was fired, in ms; null for other work.').nullable(),
    startedMs: count(
      'How late its first attempt started, or how late it is so far, in ms; null without one.',
    ).nullable(),
    isGrowing: flag('Whether the first attempt has not started yet.'),
  })
  .describe('How late the run is, or was.')
type Lateness = AnswerOf<typeof lateness>

export function latenessOf(run: RunView, attempts: readonly ExplainedAttempt[], now: number): Lateness {
  const { dueAt, notBefore, enqueuedAt, occurrenceAt, lease, end } = run
  const against = occurrenceAt !== null ? 'due' : notBefore !== null ? 'not-before' : 'enqueued'
  const at = against === 'due' ? (dueAt ?? enqueuedAt) : Math.max(notBefore ?? enqueuedAt, enqueuedAt)
  const startedAt = attempts.find((attempt) => attempt.startedAt !== null)?.startedAt ?? lease?.leasedAt ?? null
  const isGrowing = startedAt === null && end === null
  const measuredTo = startedAt ?? (isGrowing ? now : null)
  return {
    against,
    at,
    firedMs: occurrenceAt === null ? null : Math.max(0, enqueuedAt - at),
    startedMs: measuredTo === null ? null : Math.max(0, measuredTo - at),
    isGrowing,
  }
}

export interface TimelineInput {
  readonly run: RunView
  readonly attempts: readonly ExplainedAttempt[]
  readonly lateness: Lateness
  readonly fleet: Fleet
  /** The run sources that parts add. */
  readonly origins: Readonly<Record<string, RunOrigin>>
  /** The end of its wait, where time alone ends it. */
  readonly until: number | null
}

/** The events of a run in order of time. */
export function timelineOf(input: TimelineInput): TimelineEvent[] {
  const events = [...beginning(input), ...input.attempts.flatMap(ofAttempt), ...present(input)]
  return events.sort((a, b) => a.at - b.at)
}

function beginning({ run, lateness, origins }: TimelineInput): TimelineEvent[] {
  const { decision, occurrenceAt, dueAt, enqueuedAt } = run
  const events: TimelineEvent[] = []
  if (decision !== null) events.push({ at: decision.at, what: 'decided', detail: `by version ${decision.version}` })
  if (occurrenceAt === null) {
    return [...events, { at: enqueuedAt, what: 'enqueued', detail: howMade(run, origins) }]
  }
  if (dueAt !== null && dueAt !== occurrenceAt) {
    const by = decision?.spread === undefined ? '' : `, of version ${decision.spread.version} of the settings`
    events.push({ at: occurrenceAt, what: 'nominal', detail: `moved by its spread${by}` })
  }
  events.push({ at: dueAt ?? occurrenceAt, what: 'due', detail: '' })
  const late = lateness.firedMs === null || lateness.firedMs === 0 ? 'on time' : lateBy(lateness.firedMs)
  return [...events, { at: enqueuedAt, what: 'fired', detail: late }]
}

/** How a run was requested that is no occurrence. */
const askedBy: Readonly<Record<string, string>> = { 'run-now': 'by hand', test: 'as a test' }

function howMade(run: RunView, origins: TimelineInput['origins']): string {
  const { source, retryOf } = run
  if (retryOf !== null) return `as a retry of ${retryOf}`
  const asked = askedBy[source] ?? origins[source]?.asked ?? ''
  const at = standsFor(run)
  return at === null ? asked : `${asked}, for ${isoText(at)}`
}

function ofAttempt(attempt: ExplainedAttempt): TimelineEvent[] {
  const { fence, startedAt, endedAt, outcome, reason, worker, verdict, ends } = attempt
  const why = reason === null ? '' : `: ${clause(reason)}`
  if (fence === 0) return [{ at: endedAt, what: 'ended', detail: `${ends ?? outcome}${why}` }]
  const started: TimelineEvent[] =
    startedAt === null ? [] : [{ at: startedAt, what: 'started', detail: byWorker(fence, worker) }]
  const detail = `attempt ${fence} ${outcome}${why}. ${verdict}`
  return [...started, { at: endedAt, what: 'attempt-ended', detail }]
}

function present({ run, fleet, until }: TimelineInput): TimelineEvent[] {
  const { lease, parked, fence } = run
  if (parked !== null) return [{ at: parked.at, what: 'parked', detail: parked.reason }]
  if (lease === null) return until === null ? [] : [{ at: until, what: 'waits-until', detail: '' }]
  const isDead = deathOf(lease.workerId, fleet) !== null
  const events: TimelineEvent[] = [
    { at: lease.leasedAt, what: 'started', detail: byWorker(fence, workerName(lease.workerId, fleet)) },
    {
      at: lease.expiresAt,
      what: 'lease-expires',
      detail: isDead ? 'its worker died and cannot renew it' : 'unless it is renewed',
    },
  ]
  if (lease.cancelRequestedAt !== null) {
    events.push({ at: lease.cancelRequestedAt, what: 'cancel-requested', detail: lease.cancelReason ?? '' })
  }
  return events
}

function byWorker(fence: number, worker: string | null): string {
  return worker === null ? `attempt ${fence}` : `attempt ${fence}, ${worker}`
}

function lateBy(ms: number): string {
  return `late by ${about(ms)}`
}
