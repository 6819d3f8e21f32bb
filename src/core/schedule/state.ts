import type { NamedCalendar } from '../opening/closings.ts'
import type { OpeningHours } from '../opening/opening.ts'
import { type SettingsVersion, settingsInForce, settledSpread } from '../setting.ts'
import type { LateSchedule, LateState } from '../timing/missed.ts'
import { type CatchUpConfig, catchUpDefault, type SpreadConfig } from '../timing/spread.ts'
import type { NextDecision } from './decision.ts'
import { spreadId, writtenAt } from './due.ts'
import type { GovernorState, Hints } from './governor.ts'
import { governed } from './governor-question.ts'
import type { ScheduleSpec } from './schedule-spec.ts'
import type { Steering } from './steering.ts'

/** A schedule with its state: what firing, ends, hints and pauses read and change. */
export interface ScheduleState {
  readonly id: number
  readonly spec: ScheduleSpec
  readonly version: number
  /** Its own calendars and those of its queue and namespace, with their hours: nothing of it is planned while one is closed. */
  readonly calendars: readonly NamedCalendar[] | null
  /** The minutes in which hints of rules, planners and agents may plan runs: its own, else those of its group. */
  readonly window: OpeningHours | null
  readonly disabledAt: number | null
  readonly disabledReason: string | null
  readonly pausedUntil: number | null
  readonly pausedReason: string | null
  readonly hints: Hints
  /** The changes by its authors, as ranks and bounds need them. */
  readonly steering: Steering | null
  /** A number that grows with every edit, pause and hint of a person: proposals from before that are superseded. */
  readonly hintEpoch: number
  readonly failureCount: number
  /** Completed occurrences in a row that found nothing to do; counted where `maxNoop` is set. */
  readonly noopCount: number
  readonly runsCount: number
  readonly lastPlannedAt: number | null
  readonly anchorAt: number
  readonly gridAnchorAt: number
  /** When its last occurrence ended, with any outcome; the next field says when one last completed. */
  readonly lastEndAt: number | null
  readonly lastSuccessAt: number | null
  readonly nextRunAt: number | null
  readonly nextDueAt: number | null
  readonly nextDecision: NextDecision | null
  /** The run whose end the next plan is measured from. */
  readonly waitsFor: number | null
  readonly wakeAt: number | null
  /** The settings in force in its namespace; absent where nothing was set. */
  readonly settings?: SettingsVersion | undefined
  /** The field that ended it early, such as `until`: nothing more is planned. */
  readonly finished: string | null
  /** When its timing was last written: earlier instants are not its occurrences. */
  readonly timedAt: number
  readonly createdAt: number
  readonly deletedAt: number | null
}

/** A new schedule, before the governor's first answer. */
export function freshState(id: number, spec: ScheduleSpec, now: number): ScheduleState {
  return {
    id,
    spec,
    version: 1,
    calendars: null,
    window: null,
    disabledAt: null,
    disabledReason: null,
    pausedUntil: null,
    pausedReason: null,
    hints: {},
    steering: null,
    hintEpoch: 0,
    failureCount: 0,
    noopCount: 0,
    runsCount: 0,
    lastPlannedAt: null,
    anchorAt: now,
    gridAnchorAt: spec.startAt ?? now,
    lastEndAt: null,
    lastSuccessAt: null,
    nextRunAt: null,
    nextDueAt: null,
    nextDecision: null,
    waitsFor: null,
    wakeAt: null,
    finished: null,
    timedAt: now,
    createdAt: now,
    deletedAt: null,
  }
}

/** The spread of its occurrences. */
export function spreadOf({ spec, settings }: Pick<ScheduleState, 'spec' | 'settings'>): SpreadConfig | undefined {
  return spec.spread === 'settings' ? settledSpread(settings) : spec.spread
}

/** How its missed occurrences are caught up. */
export function catchUpOf({ settings }: Pick<ScheduleState, 'settings'>): CatchUpConfig {
  return settings === undefined ? catchUpDefault : settingsInForce(settings)
}

/** A live run of a schedule, for a turn of the schedule and the end of a run. */
export interface LiveScheduleRun {
  readonly runId: number
  readonly occurrenceAt: number | null
  readonly dueAt: number | null
  readonly enqueuedAt: number
  readonly isLeased: boolean
}

/** The run of the last planned occurrence, while it is live. */
export function lastRunId({ lastPlannedAt }: ScheduleState, live: readonly LiveScheduleRun[]): number | null {
  if (lastPlannedAt === null) return null
  return live.find((run) => run.occurrenceAt === lastPlannedAt)?.runId ?? null
}

/**
 * While it is paused or disabled, no run of a schedule starts. A deleted schedule does not count as paused: its leased
 * runs may finish.
 */
export function isPaused({ disabledAt, pausedUntil, deletedAt }: ScheduleState, now: number): boolean {
  return deletedAt === null && (disabledAt !== null || (pausedUntil !== null && pausedUntil > now))
}

export function governorState(row: ScheduleState): GovernorState {
  return {
    failureCount: row.failureCount,
    hints: row.hints,
    pausedUntil: row.pausedUntil ?? undefined,
    anchorAt: row.anchorAt,
    lastPlannedAt: row.lastPlannedAt ?? undefined,
    gridAnchorAt: row.gridAnchorAt,
    runsCount: row.runsCount,
    finished: row.finished ?? undefined,
  }
}

/** The schedule for the rules about late occurrences. */
export function lateSchedule(row: ScheduleState): LateSchedule {
  const { spec, calendars, disabledAt, createdAt, anchorAt } = row
  const { missed, maxLatenessMs, asksWhenMissed } = spec
  return {
    calendars: calendars ?? undefined,
    id: spreadId(row),
    missed,
    maxLatenessMs,
    spread: spreadOf(row),
    catchUp: catchUpOf(row),
    asksWhenMissed,
    createdAt: writtenAt({ spec, createdAt, anchorAt }),
    ...governed(spec, disabledAt === null),
  }
}

export function lateState(row: ScheduleState): LateState {
  return {
    nextRunAt: row.nextRunAt ?? undefined,
    nextDueAt: row.nextDueAt ?? undefined,
    waitsForEnd: row.nextDecision?.waitsForEnd,
    ...governorState(row),
  }
}
