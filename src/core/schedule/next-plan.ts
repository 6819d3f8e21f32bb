import type { OpeningHours } from '../opening/opening.ts'
import { settledSpread } from '../setting.ts'
import type { CalendarRef, Decision, NextDecision } from './decision.ts'
import { spreadDueAt, spreadId, writtenAt } from './due.ts'
import { type Hints, type NextRun, nextRun, type Winner } from './governor.ts'
import { answerTo, governed, type Unmeasured } from './governor-question.ts'
import { isPerson } from './hint-author.ts'
import { everyHint, inForce, isIntervalOver, lastInterval } from './hints.ts'
import { governorState, isPaused, type ScheduleState, spreadOf } from './state.ts'
import { gridFor } from './wishes.ts'
import { isWorkable } from './workable.ts'

export interface PlanRequest {
  readonly now: number
  /** The run of the last planned occurrence, while it is live. */
  readonly lastRunId: number | null
}

/**
 * Asks the governor and stores its answer in the row: the one place that decides what a schedule does next. Every step that
 * changes the governor's input ends here.
 *
 * A plan whose instant has come is kept: the cron would now name the next instant, and the planned occurrence would never have
 * an end. `fireDue` handles a pause that is over, because it knows what passed meanwhile.
 */
export function planned<Row extends ScheduleState>(given: Row, asked: PlanRequest): Row {
  const { now, lastRunId } = asked
  const row = ranked(given, now)
  if (isPaused(row, now)) return withPause(row, now)
  if (row.pausedUntil !== null) return { ...row, wakeAt: row.pausedUntil }
  if (row.finished !== null) return withAnswer(unplanned(row), ask(row, now))
  if (hasCome(row, now)) return { ...row, waitsFor: null, wakeAt: earliest(row.nextDueAt, firstExpiry(row, now)) }

  const pending = notYetDue(row, asked)
  if (pending !== null) return pending
  const answer = ask(row, asOfExpiry(row, now), unmeasured(row, lastRunId))
  if (!answer.waitsForEnd || lastRunId === null) return withAnswer(row, answer)
  if (row.hints.oneshot !== undefined) {
    // A one-shot hint does not wait for the end that a fixed delay is measured from, and its expiry
    // hides no other.
    const oneshot = ask(row, now, ['max', 'delay'])
    if (oneshot.at !== null) return withAnswer(row, { ...oneshot, askAgainAt: answer.askAgainAt })
  }
  const nextDecision = decisionOf(answer, closedFrom(row, answer))
  return { ...row, nextRunAt: null, nextDueAt: null, nextDecision, waitsFor: lastRunId, wakeAt: answer.askAgainAt }
}

/**
 * The row with the hints that count at an instant. The plan of an expired hint does not become the plan of the hint that takes its
 * place.
 */
function ranked<Row extends ScheduleState>(row: Row, now: number): Row {
  const { hints, nextRunAt, nextDecision } = row
  if (hints.outranked === undefined) return row
  const counting = inForce(everyHint(hints), now)
  const kind = nextDecision?.winner === 'interval-hint' ? 'interval' : 'oneshot'
  const before = hints[kind]?.expiresAt ?? Number.POSITIVE_INFINITY
  const isOther = before !== counting[kind]?.expiresAt && nextDecision?.winner !== 'baseline'
  const isGone = isOther && nextRunAt !== null && nextRunAt >= before
  return { ...row, hints: counting, ...(isGone && { nextRunAt: null, nextDueAt: null }) }
}

/** The row with the occurrences of the cron since an interval hint expired, if `fireDue` has not run since. */
export function withExpirySeen<Row extends ScheduleState>(row: Row, asked: PlanRequest): Row {
  return isIntervalOver(row.hints, asked.now) && isWorkable(row.spec) ? planned(row, asked) : row
}

/** A row whose plan was carried out or dropped. */
export function unplanned<Row extends ScheduleState>(row: Row): Row {
  return { ...row, nextRunAt: null, nextDueAt: null, nextDecision: null, waitsFor: null }
}

/** The governor's answer with its question. */
interface Answer extends NextRun {
  readonly asked: Pick<Decision, 'at' | 'version' | 'state' | 'unmeasured' | 'calendars' | 'window'>
}

/**
 * While the last occurrence is live it has not ended, so `max` cannot be measured from its end; measured from the previous end,
 * `max` would request one run after the other without a pause.
 */
function unmeasured(row: ScheduleState, lastRunId: number | null): Unmeasured | undefined {
  return lastRunId === null || isOfCalendarAlone(row) ? undefined : ['max']
}

/** Whether nothing in its plan is measured from the end of the occurrence before. */
export function isOfCalendarAlone({ spec: { timing, maxMs }, hints }: ScheduleState): boolean {
  return timing.cron !== undefined && maxMs === undefined && hints.interval === undefined
}

function ask(row: ScheduleState, at: number, unmeasured?: Unmeasured): Answer {
  const { calendars } = row
  const asked = {
    ...{ at, version: row.version, state: governorState(row), unmeasured, calendars: refsOf(row) },
    window: windowOf(row),
  }
  const {
    at: nextAt,
    source,
    winner,
    waitsForEnd,
    askAgainAt,
    passesFrom,
    trail,
  } = answerTo(row.spec, asked, row.disabledAt === null, calendars)
  const passes = passesFrom === undefined ? {} : { passesFrom }
  return { at: nextAt, source, winner, waitsForEnd, askAgainAt, trail, asked, ...passes }
}

/** The window, where a hint has to stay in it. */
function windowOf({ window, hints: { interval, oneshot } }: ScheduleState): OpeningHours | undefined {
  const isBound = [interval, oneshot].some((hint) => hint !== undefined && !isPerson(hint.by))
  return isBound ? (window ?? undefined) : undefined
}

function refsOf({ calendars }: ScheduleState): readonly CalendarRef[] | undefined {
  return calendars?.map(({ name, version, isInverted }) => ({ name, version, isInverted }))
}

function withAnswer<Row extends ScheduleState>(row: Row, answer: Answer): Row {
  const { at: nextRunAt, winner, askAgainAt } = answer
  const nextDueAt = nextRunAt === null ? null : dueOf(row, nextRunAt, winner)
  const spread = winner === 'baseline' && row.spec.spread === 'settings' ? { spread: settledSpread(row.settings) } : {}
  const nextDecision = { ...decisionOf(answer, closedFrom(row, answer)), ...spread }
  return { ...row, nextRunAt, nextDueAt, nextDecision, waitsFor: null, wakeAt: earliest(nextDueAt, askAgainAt) }
}

/**
 * The instant to plan from. While an interval hint was in force, the cron was not used. Its instants since the expiry of the
 * hint need an end, and a plan from now would skip them.
 */
function asOfExpiry(row: ScheduleState, now: number): number {
  const { timing } = row.spec
  const isOnGrid = timing.cron !== undefined || (timing.everyMs !== undefined && timing.from === 'start')
  const last = lastInterval(row.hints)
  return last !== undefined && isOnGrid ? Math.min(now, freedAt(row, last)) : now
}

/** When the baseline counts again: at the expiry of the last interval hint, unless the timing was written after it. */
function freedAt({ timedAt }: ScheduleState, { expiresAt }: NonNullable<Hints['interval']>): number {
  return Math.max(expiresAt, timedAt)
}

/** Whether the planned instant has come. From its expiry on a hint plans nothing. */
function hasCome({ nextRunAt, nextDecision, hints }: ScheduleState, now: number): boolean {
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
 * An occurrence whose nominal instant has passed but whose spread has not: a plan from now would skip it. The search begins when
 * the timing was written: earlier instants were never occurrences.
 */
function notYetDue<Row extends ScheduleState>(row: Row, { now, lastRunId }: PlanRequest): Row | null {
  const afterAt = Math.max(row.lastPlannedAt ?? row.timedAt, row.timedAt)
  if (spreadOf(row) === undefined || afterAt >= now) return null
  const answer = ask(row, afterAt, unmeasured(row, lastRunId))
  if (answer.winner !== 'baseline' || answer.waitsForEnd || answer.at === null || answer.at > now) return null
  return dueOf(row, answer.at, answer.winner) > now ? withAnswer(row, answer) : null
}

function withPause<Row extends ScheduleState>(row: Row, now: number): Row {
  const answer = ask(row, now)
  const nextDecision = { ...decisionOf(answer, closedFrom(row, answer)), passingAt: passingAt(row, now) }
  return { ...unplanned(row), nextDecision, wakeAt: answer.askAgainAt }
}

/**
 * The first nominal instant that a pause skips. A fixed delay has none: an instant that is not planned is not
 * an occurrence.
 */
function passingAt(row: ScheduleState, now: number): number | undefined {
  const { nextRunAt, nextDecision, hints } = row
  const { passingAt: knownAt } = nextDecision ?? {}
  if (knownAt !== undefined && knownAt <= now) return knownAt
  if (nextRunAt !== null && nextDecision?.winner === 'baseline' && !nextDecision.waitsForEnd) {
    const { closedFrom: closedAt = nextRunAt } = nextDecision
    if (closedAt >= nextRunAt) return nextRunAt
    // A pause comes before the calendars: it also skips the instants at which the calendars are
    // closed.
    const first = gridFor({ now, schedule: governed(row.spec), state: governorState(row) })
    return first?.atOrAfter(Math.max(closedAt, now + 1)) ?? nextRunAt
  }
  const interval = lastInterval(hints)
  const state = { ...governorState(row), pausedUntil: undefined, hints: { interval } }
  const passesFrom = interval === undefined ? beforeOneshot(row, now) : freedAt(row, interval)
  const asked = { now: passesFrom, schedule: governed(row.spec), state }
  const { at, winner, waitsForEnd } = nextRun(asked)
  return winner === 'baseline' && !waitsForEnd ? (at ?? undefined) : undefined
}

/**
 * The instant to plan from when the plan of a one-shot is dropped. The cron's instants since then need an end, and a plan from
 * now would skip them.
 */
export function beforeOneshot({ nextRunAt, nextDecision }: ScheduleState, now: number): number {
  return nextDecision?.winner === 'oneshot-hint' && nextRunAt !== null ? Math.min(now, nextRunAt - 1) : now
}

/** When an occurrence is due: its nominal instant plus its spread. Hints are not spread. */
export function dueOf(row: ScheduleState, plannedAt: number, winner: Winner | null): number {
  const { timing } = row.spec
  const spread = spreadOf(row)
  if (spread === undefined || winner !== 'baseline') return plannedAt
  const calendars = row.calendars ?? undefined
  return spreadDueAt(plannedAt, { id: spreadId(row), timing, spread, createdAt: writtenAt(row), calendars })
}

/** Instants that closed calendars skipped stay noted until the ledger has their end; instants that are still ahead are planned again. */
function closedFrom({ nextDecision }: ScheduleState, { asked, passesFrom }: Answer): number | undefined {
  const noted = nextDecision?.closedFrom
  if (noted === undefined || noted > asked.at) return passesFrom
  return Math.min(noted, passesFrom ?? noted)
}

function decisionOf({ asked, source, winner, waitsForEnd, trail }: Answer, closedFrom?: number): NextDecision {
  const { at, version, state, unmeasured, calendars, window } = asked
  return { at, version, state, unmeasured, calendars, window, source, winner, waitsForEnd, closedFrom, trail }
}

function firstExpiry({ hints }: ScheduleState, now: number): number | null {
  const ahead = [hints.interval?.expiresAt, hints.oneshot?.expiresAt].filter((at) => at !== undefined && at > now)
  return ahead.length === 0 ? null : Math.min(...(ahead as number[]))
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b
  return Math.min(a, b)
}
