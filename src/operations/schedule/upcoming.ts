import type { ClockMark } from '../../core/cron/clock-mark.ts'
import { cron } from '../../core/cron/cron.ts'
import { parseId } from '../../core/id.ts'
import { type Foreseen, foresee, type PausedRun } from '../../core/schedule/foresee.ts'
import type { Source } from '../../core/schedule/governor.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { ScheduleState } from '../../core/schedule/state.ts'
import type { Store } from '../../store/port.ts'
import { listRuns } from '../../store/reads/list-runs.ts'
import type { ScheduleView } from '../../store/views.ts'

/** A future occurrence. */
export interface UpcomingRun {
  /** The nominal instant. */
  readonly at: number
  /** The earliest start: nominal instant plus spread. */
  readonly dueAt: number
  readonly source: Source
  /** An estimate: it counts from the end of a run that has not ended, as if runs took no time, or from a later check. */
  readonly isEstimate: boolean
  /** The time zone of the schedule's cron. */
  readonly zone?: string
  /** The effect of a clock change on it, or on the time since the previous occurrence. */
  readonly dst?: ClockMark
}

export interface UpcomingInput {
  readonly now: number
  readonly schedule: ScheduleView
  readonly count: number
  readonly live?: readonly PausedRun[]
}

/**
 * The next occurrences of a schedule, as the engine will fire them if no one intervenes and every run succeeds in no time.
 * Overdue and paused occurrences are treated as the engine treats them. Nothing follows a pause without end.
 */
export function upcoming({ now, schedule, count, live }: UpcomingInput): UpcomingRun[] {
  const runs: UpcomingRun[] = []
  for (const run of foresee({ now, schedule: stateOf(schedule), live })) {
    runs.push(byItsClocks(schedule.spec, run, runs.at(-1)?.at))
    if (runs.length >= count) break
  }
  return runs
}

/** The most held runs of one schedule that are taken into account. */
const pausedRunsMax = 100

/** The next occurrences, where a pause holds runs back: an occurrence measured from their ends comes after them. */
export async function readUpcoming(
  store: Pick<Store, 'look'>,
  input: Omit<UpcomingInput, 'live'>,
): Promise<UpcomingRun[]> {
  const { id, paused } = input.schedule
  if (paused === null) return upcoming(input)
  const pages = await Promise.all(
    (['held', 'leased'] as const).map((status) => store.look(listRuns, { schedule: id, status, limit: pausedRunsMax })),
  )
  const live = pages.flatMap(({ runs }) => runs)
  return upcoming({ ...input, live })
}

/** The memory of a schedule, from the store's view of it. */
function stateOf({ id, disabled, paused, pauses, waitsFor, ...view }: ScheduleView): ScheduleState {
  return {
    ...view,
    id: parseId('schedule', id) ?? 0,
    disabledAt: disabled?.at ?? null,
    disabledReason: disabled?.reason ?? null,
    pausedUntil: paused?.until ?? null,
    pausedReason: paused?.reason ?? null,
    steering: pauses.length === 0 ? null : { pauses },
    gridAnchorAt: view.nextDecision?.state?.gridAnchorAt ?? view.spec.startAt ?? view.createdAt,
    lastEndAt: null,
    lastSuccessAt: null,
    waitsFor: parseId('run', waitsFor),
  }
}

/** An instant that a hint or bound gave is not an instant of the cron, so no clock change moved it. */
function byItsClocks({ timing }: ScheduleSpec, { decision, ...times }: Foreseen, previousAt?: number): UpcomingRun {
  const { winner, source } = decision
  const run = { ...times, source }
  if (timing.cron === undefined) return run
  const { zone } = timing
  if (winner !== 'baseline' || source === 'clamped-max') return { ...run, zone }
  const calendar = cron(timing.cron, zone)
  const dst = calendar.clockMark(run.at, previousAt ?? calendar.previous(run.at))
  return dst === null ? { ...run, zone } : { ...run, zone, dst }
}
