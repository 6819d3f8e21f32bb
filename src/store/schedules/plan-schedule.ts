import { cron } from '../../core/cron/cron.ts'
import { CronError } from '../../core/cron/cron-error.ts'
import { type Hints, type NextRun, nextRun, type Winner } from '../../core/governor.ts'
import { formatId } from '../../core/id.ts'
import { type CountedRange, occurrences } from '../../core/occurrences.ts'
import { answerTo, governed, type Unmeasured } from '../../core/question.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import { dueAt } from '../../core/spread.ts'
import { gridFor } from '../../core/wishes.ts'
import type { DecisionView, NextDecisionView } from '../view.ts'
import type { LedgerEntry } from './ledger.ts'
import { governorState, isPaused, lateState, type ScheduleRow, writtenAt } from './schedule-row.ts'

export interface Asked {
  readonly now: number
  /** The run of the last planned occurrence, while it is live. */
  readonly lastRunId: number | null
}

/**
 * Asks the governor and gives the row its answer: the one home of what a schedule does next. Every step that changes
 * what the governor reads ends here.
 *
 * A plan whose instant has come is kept: asking the calendar again would name the instant after it, and the planned one
 * would never have an end. A pause that is over is left to `fire`, which knows what passed meanwhile.
 */
export function planned(row: ScheduleRow, asked: Asked): ScheduleRow {
  const { now, lastRunId } = asked
  if (isPaused(row, now)) return withPause(row, now)
  if (row.pausedUntil !== null) return { ...row, wakeAt: row.pausedUntil }
  if (hasCome(row, now)) return { ...row, waitsFor: null, wakeAt: earliest(row.nextDueAt, firstExpiry(row, now)) }

  const pending = notYetDue(row, asked)
  if (pending !== null) return pending
  const answer = ask(row, asOfExpiry(row, now), unmeasured(row, lastRunId))
  if (!answer.waitsForEnd || lastRunId === null) return withAnswer(row, answer)
  if (row.hints.oneshot !== undefined) {
    // A one-shot hint does not wait for the end that a fixed delay waits for, and hides no other expiry.
    const oneshot = ask(row, now, ['max', 'delay'])
    if (oneshot.at !== null) return withAnswer(row, { ...oneshot, askAgainAt: answer.askAgainAt })
  }
  const nextDecision = decisionOf(answer)
  return { ...row, nextRunAt: null, nextDueAt: null, nextDecision, waitsFor: lastRunId, wakeAt: answer.askAgainAt }
}

/** The row with what its calendar named since an interval hint expired, where `fire` has not looked since. */
export function withExpirySeen(row: ScheduleRow, asked: Asked): ScheduleRow {
  const isOver = (row.hints.interval?.expiresAt ?? Number.POSITIVE_INFINITY) <= asked.now
  return isOver && isWorkable(row.spec) ? planned(row, asked) : row
}

/** A row whose plan has become something, or is no longer wanted. */
export function unplanned(row: ScheduleRow): ScheduleRow {
  return { ...row, nextRunAt: null, nextDueAt: null, nextDecision: null, waitsFor: null }
}

/** An answer with the question it answers. */
interface Answer extends NextRun {
  readonly asked: Pick<DecisionView, 'at' | 'version' | 'state' | 'unmeasured'>
}

/**
 * While the last occurrence is live it has not ended, so nobody can measure `max` from its end; measured from the one
 * before, it would ask for one run after the other without a pause.
 */
function unmeasured(row: ScheduleRow, lastRunId: number | null): Unmeasured | undefined {
  return lastRunId === null || isOfCalendarAlone(row) ? undefined : ['max']
}

/** Whether nothing of its plan is measured from the end of the occurrence before. */
export function isOfCalendarAlone({ spec: { timing, maxMs }, hints }: ScheduleRow): boolean {
  return timing.cron !== undefined && maxMs === undefined && hints.interval === undefined
}

function ask(row: ScheduleRow, at: number, unmeasured?: Unmeasured): Answer {
  const asked = { at, version: row.version, state: governorState(row), unmeasured }
  const {
    at: nextAt,
    source,
    winner,
    waitsForEnd,
    askAgainAt,
    trail,
  } = answerTo(row.spec, asked, row.disabledAt === null)
  return { at: nextAt, source, winner, waitsForEnd, askAgainAt, trail, asked }
}

function withAnswer(row: ScheduleRow, answer: Answer): ScheduleRow {
  const { at: nextRunAt, winner, askAgainAt } = answer
  const nextDueAt = nextRunAt === null ? null : dueOf(row, nextRunAt, winner)
  const nextDecision = decisionOf(answer)
  return { ...row, nextRunAt, nextDueAt, nextDecision, waitsFor: null, wakeAt: earliest(nextDueAt, askAgainAt) }
}

/**
 * The instant to ask as of. While an interval hint counted, the calendar was not asked; what it names from the expiry of the
 * hint on needs an end, and the calendar asked now would pass it by.
 */
function asOfExpiry(row: ScheduleRow, now: number): number {
  const { timing } = row.spec
  const isOnGrid = timing.cron !== undefined || (timing.everyMs !== undefined && timing.from === 'start')
  return row.hints.interval !== undefined && isOnGrid ? Math.min(now, freedAt(row, row.hints.interval)) : now
}

/** From when on the baseline counts again: the expiry of the interval hint, unless the timing was written after it. */
function freedAt({ timedAt }: ScheduleRow, { expiresAt }: NonNullable<Hints['interval']>): number {
  return Math.max(expiresAt, timedAt)
}

/** Whether the planned instant is here. A hint plans nothing from its expiry on. */
function hasCome({ nextRunAt, nextDecision, hints }: ScheduleRow, now: number): boolean {
  if (nextRunAt === null || nextRunAt > now) return false
  switch (nextDecision?.winner) {
    case 'interval-hint':
      return nextRunAt < (hints.interval?.expiresAt ?? nextRunAt)
    case 'oneshot-hint':
      return nextRunAt < (hints.oneshot?.expiresAt ?? nextRunAt)
    default:
      return nextDecision?.winner === 'baseline'
  }
}

/**
 * An occurrence whose nominal instant is over but whose spread is not: the calendar asked now would pass it by. It is asked
 * from when it was written on: what it would have named before has never been an occurrence.
 */
function notYetDue(row: ScheduleRow, { now, lastRunId }: Asked): ScheduleRow | null {
  const afterAt = Math.max(row.lastPlannedAt ?? row.timedAt, row.timedAt)
  if (row.spec.spread === undefined || afterAt >= now) return null
  const answer = ask(row, afterAt, unmeasured(row, lastRunId))
  if (answer.winner !== 'baseline' || answer.waitsForEnd || answer.at === null || answer.at > now) return null
  return dueOf(row, answer.at, answer.winner) > now ? withAnswer(row, answer) : null
}

function withPause(row: ScheduleRow, now: number): ScheduleRow {
  const answer = ask(row, now)
  const nextDecision = { ...decisionOf(answer), passingAt: passingAt(row, now) }
  return { ...unplanned(row), nextDecision, wakeAt: answer.askAgainAt }
}

/** The first nominal instant that a pause lets pass. A fixed delay has none: what is not planned does not occur. */
function passingAt(row: ScheduleRow, now: number): number | undefined {
  const { nextRunAt, nextDecision, hints } = row
  const { passingAt: knownAt } = nextDecision ?? {}
  if (knownAt !== undefined && knownAt <= now) return knownAt
  if (nextRunAt !== null && nextDecision?.winner === 'baseline' && !nextDecision.waitsForEnd) return nextRunAt
  const state = { ...governorState(row), pausedUntil: undefined, hints: { interval: hints.interval } }
  const passesFrom = hints.interval === undefined ? beforeOneshot(row, now) : freedAt(row, hints.interval)
  const asked = { now: passesFrom, schedule: governed(row.spec), state }
  const { at, winner, waitsForEnd } = nextRun(asked)
  return winner === 'baseline' && !waitsForEnd ? (at ?? undefined) : undefined
}

/**
 * When to ask as of, where the plan of a one-shot is dropped: what the calendar named since its instant has come wants its
 * end, and the calendar asked now would pass it by.
 */
export function beforeOneshot({ nextRunAt, nextDecision }: ScheduleRow, now: number): number {
  return nextDecision?.winner === 'oneshot-hint' && nextRunAt !== null ? Math.min(now, nextRunAt - 1) : now
}

/** When an occurrence is due: its nominal instant and its spread. Hints are not spread. */
export function dueOf(row: ScheduleRow, plannedAt: number, winner: Winner | null): number {
  const { spread: config, timing } = row.spec
  if (config === undefined || winner !== 'baseline') return plannedAt
  const kind = timing.at === undefined ? 'recurring' : 'one-shot'
  const intervalMs = periodMs(row, plannedAt) ?? 0
  return dueAt({ id: formatId('schedule', row.id), kind, plannedAt, intervalMs, config, createdAt: writtenAt(row) })
}

/** The gap to the next occurrence; `null` where there is none. */
export function periodMs(row: ScheduleRow, plannedAt: number): number | null {
  const { everyMs } = row.spec.timing
  if (everyMs !== undefined) return everyMs
  const grid = gridFor({ now: plannedAt, schedule: governed(row.spec), state: governorState(row) })
  const nextAt = grid?.atOrAfter(plannedAt + 1) ?? null
  return nextAt === null ? null : nextAt - plannedAt
}

function decisionOf({ asked, source, winner, waitsForEnd, trail }: Answer): NextDecisionView {
  const { at, version, state, unmeasured } = asked
  return { at, version, state, unmeasured, source, winner, waitsForEnd, trail }
}

/** Occurrences of a schedule that came by an instant and end without a run, all for one reason; and the row after them. */
export interface PassedBy {
  readonly row: ScheduleRow
  readonly entries: readonly LedgerEntry[]
}

/** Ends the occurrences that were planned, or would have been but for a pause, up to an instant. */
export function passedBy(row: ScheduleRow, { by, now, outcome }: PassedByInput): PassedBy {
  const range = rangeUpTo(row, by)
  if (range === null) return { row, entries: [] }
  const { from, to, count, countIsAtLeast } = range
  const decision = row.nextRunAt === null ? null : row.nextDecision
  const { ns, id: scheduleId } = row
  const entry = { ns, scheduleId, from, to, count, countIsAtLeast, outcome, runId: null, causedBy: null, decision }
  return { row: { ...unplanned(row), lastPlannedAt: to, anchorAt: now }, entries: [entry] }
}

export interface PassedByInput {
  readonly by: number
  readonly now: number
  readonly outcome: 'paused' | 'edited' | 'schedule-deleted'
}

function rangeUpTo(row: ScheduleRow, by: number): CountedRange | null {
  const firstAt = row.nextRunAt ?? row.nextDecision?.passingAt
  if (firstAt === undefined || firstAt > by || !isWorkable(row.spec)) return null
  const state = { ...lateState(row), nextRunAt: firstAt }
  const { listed, before } = occurrences({ now: by, schedule: governed(row.spec), state, listMax: 0 })
  const [alone] = listed
  return before ?? (alone === undefined ? null : { from: alone, to: alone, count: 1, countIsAtLeast: false })
}

/** A schedule whose time zone this machine does not know can be edited and deleted, but not counted. */
export function isWorkable({ timing }: ScheduleSpec): boolean {
  if (timing.cron === undefined) return true
  try {
    return cron(timing.cron, timing.zone) !== null
  } catch (error) {
    if (error instanceof CronError) return false
    throw error
  }
}

function firstExpiry({ hints }: ScheduleRow, now: number): number | null {
  const ahead = [hints.interval?.expiresAt, hints.oneshot?.expiresAt].filter((at) => at !== undefined && at > now)
  return ahead.length === 0 ? null : Math.min(...(ahead as number[]))
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
