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

/** An occurrence to come. */
export interface UpcomingRun {
  /** The nominal instant. */
  readonly at: number
  /** When it will start at the earliest: nominal and spread. */
  readonly dueAt: number
  readonly source: Source
  /** It counts from the end of a run that has not ended yet, as if every run took no time, or from a look to come. */
  readonly isEstimate: boolean
  /** The zone of the schedule's cron, by whose clocks people read it. */
  readonly zone?: string
  /** What a change of those clocks does to it, or to the time since the one before. */
  readonly dst?: ClockMark
}

export interface UpcomingInput {
  readonly now: number
  readonly schedule: ScheduleView
  readonly count: number
  readonly live?: readonly PausedRun[]
}

/**
 * The next occurrences of a schedule: those that the engine will fire if nobody intervenes and every run ends well in no
 * time, with what is overdue or paused treated as the engine will treat it. A pause without end has nothing after it.
 */
export function upcoming({ now, schedule, count, live }: UpcomingInput): UpcomingRun[] {
  const runs: UpcomingRun[] = []
  for (const run of foresee({ now, schedule: stateOf(schedule), live })) {
    runs.push(byItsClocks(schedule.spec, run, runs.at(-1)?.at))
    if (runs.length >= count) break
  }
  return runs
}

/** More held runs of one schedule than anybody will wait for. */
const pausedRunsMax = 100

/** The next occurrences, with regard to runs that a pause holds back: what counts from their ends comes after them. */
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

/** What is remembered of a schedule, from what the store shows of it. */
function stateOf({ id, disabled, paused, waitsFor, ...view }: ScheduleView): ScheduleState {
  return {
    ...view,
    id: parseId('schedule', id) ?? 0,
    disabledAt: disabled?.at ?? null,
    disabledReason: disabled?.reason ?? null,
    pausedUntil: paused?.until ?? null,
    pausedReason: paused?.reason ?? null,
    gridAnchorAt: view.nextDecision?.state?.gridAnchorAt ?? view.spec.startAt ?? view.createdAt,
    lastEndAt: null,
    lastSuccessAt: null,
    waitsFor: parseId('run', waitsFor),
  }
}

/** What only hints or bounds asked for is no time of the calendar, so no change of the clocks moved it. */
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
