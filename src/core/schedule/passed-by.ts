import { instantsBetween } from '../timing/instants-between.ts'
import { type CountedRange, occurrences } from '../timing/occurrences.ts'
import type { NextDecision } from './decision.ts'
import { governed } from './governor-question.ts'
import { unplanned } from './next-plan.ts'
import { governorState, lateState, type ScheduleState } from './state.ts'
import { gridFor } from './wishes.ts'
import { isWorkable } from './workable.ts'

/** Nominal occurrences in a row that end without a run, all for one reason. */
export interface Passed {
  readonly from: number
  readonly to: number
  readonly count: number
  /** The count stopped early. From then on the row's count is a lower bound. */
  readonly countIsAtLeast: boolean
  readonly outcome: string
  readonly decision: NextDecision | null
}

type Counted = Pick<Passed, 'count'> & { readonly countIsAtLeast?: boolean }

/** A sum with a lower bound is a lower bound too. */
export function summed(a: Counted, b: Counted): Required<Counted> {
  return { count: a.count + b.count, countIsAtLeast: a.countIsAtLeast === true || b.countIsAtLeast === true }
}

/**
 * Occurrences of a schedule up to an instant that end without a run, all for one reason, and the schedule row after
 * them.
 */
export interface PassedBy<Row> {
  readonly row: Row
  readonly entries: readonly Passed[]
}

/** Ends the occurrences up to an instant: those that were planned, and those that a pause kept from being planned. */
export function passedBy<Row extends ScheduleState>(found: Row, { by, now, outcome }: PassedByInput): PassedBy<Row> {
  const { row, entries: closed } = closedBy(found, by)
  const range = rangeUpTo(row, by)
  if (range === null) return { row, entries: closed }
  const decision = row.nextRunAt === null ? null : row.nextDecision
  const entries = [...closed, { ...range, outcome, decision }]
  return { row: { ...unplanned(row), lastPlannedAt: range.to, anchorAt: now }, entries }
}

/** Ends the occurrences up to an instant that closed calendars or a quota skipped. The plan stays. */
export function closedBy<Row extends ScheduleState>(row: Row, by: number): PassedBy<Row> {
  const { nextDecision, nextRunAt, spec } = row
  const from = nextDecision?.closedFrom
  if (nextDecision === null || from === undefined || from > by || !isWorkable(spec)) return { row, entries: [] }
  const until = Math.min(nextRunAt ?? Number.POSITIVE_INFINITY, nextDecision.passingAt ?? Number.POSITIVE_INFINITY)
  const grid = gridFor({ now: by, schedule: governed(spec), state: governorState(row) })
  const { beyond } =
    grid === null ? { beyond: null } : instantsBetween(grid, { from, to: Math.min(by + 1, until), listMax: 0 })
  const rest = beyond === null ? null : (grid?.atOrAfter(beyond.to + 1) ?? null)
  const closedFrom = rest !== null && rest < until ? rest : undefined
  const left = { ...row, nextDecision: { ...nextDecision, closedFrom } }
  if (beyond === null) return { row: left, entries: [] }
  const entries = [{ ...beyond, outcome: nextDecision.closedFor ?? 'calendar', decision: nextDecision }]
  return { row: { ...left, lastPlannedAt: Math.max(row.lastPlannedAt ?? beyond.to, beyond.to) }, entries }
}

export interface PassedByInput {
  readonly by: number
  readonly now: number
  readonly outcome: 'paused' | 'edited' | 'finished' | 'schedule-deleted'
}

function rangeUpTo(row: ScheduleState, by: number): CountedRange | null {
  const firstAt = row.nextRunAt ?? row.nextDecision?.passingAt
  if (firstAt === undefined || firstAt > by || !isWorkable(row.spec)) return null
  const state = { ...lateState(row), nextRunAt: firstAt }
  const { listed, before } = occurrences({ now: by, schedule: governed(row.spec), state, listMax: 0 })
  const [alone] = listed
  return before ?? (alone === undefined ? null : { from: alone, to: alone, count: 1, countIsAtLeast: false })
}
