import { isLive } from '../../core/run/run-state.ts'
import { overdueMs } from '../../core/timing/overdue.ts'
import type { RunView, ScheduleView } from '../../store/views.ts'
import { byHand } from '../explain/unblock.ts'
import { whatItWrote } from '../reasons/run-reasons.ts'
import { problemOf, type ScheduleCode, type ScheduleFacts, scheduleReasons } from '../reasons/schedule-reasons.ts'
import type { RunSituation } from '../run/run-situation.ts'
import type { AwaitedRun, ScheduleExplained } from './schedule-explained.ts'

type ScheduleSituation = Pick<ScheduleExplained, 'code' | 'sentence' | 'unblock'>

/** The state of a schedule: the strongest obstacle first, then what it waits for by itself. */
export function scheduleSituationOf(input: ScheduleFacts): ScheduleSituation {
  const code = codeOf(input)
  const wrote =
    input.failure === null
      ? []
      : [{ ...whatItWrote(input.failure.runId), what: 'See the output of the last failed run.' }]
  const reason = scheduleReasons[code]
  // A state that names no ways out of its own, and does not end by itself, gets the catalogue's
  // advice.
  const ways = reason.ways?.(input) ?? (reason.tone === 'well' ? [] : [byHand(reason.unblocks)])
  return { code, sentence: reason.sentence?.(input) ?? reason.says, unblock: [...ways, ...wrote] }
}

function codeOf({ schedule, fleet, awaited, stop, held, skipping }: ScheduleFacts): ScheduleCode {
  const { now } = fleet
  if (schedule.deletedAt !== null) return 'deleted'
  if (schedule.disabled !== null) return 'disabled'
  if (isPausedAt(schedule, now)) return 'paused'
  if (problemOf(schedule) !== null) return 'cannot-be-worked-out'
  if (stop !== null) return 'stopped'
  if (held !== null) return 'held'
  if (schedule.waitsFor !== null) return awaited !== null && isLive(awaited.status) ? 'waits-for-run' : 'broken-chain'
  if (schedule.wakeAt !== null && overdueMs({ now, wakeAt: schedule.wakeAt }) !== null) return 'overdue'
  if (schedule.nextDueAt !== null && skipping !== null) return 'skips'
  if (schedule.nextDueAt !== null) return schedule.nextDueAt <= now ? 'due-now' : 'due-later'
  if (schedule.paused !== null) return 'pause-over'
  return schedule.nextDecision?.source === 'none' ? overCode(schedule) : 'broken-chain'
}

export function isPausedAt({ disabled, paused, deletedAt }: ScheduleView, now: number): boolean {
  return deletedAt === null && (disabled !== null || (paused !== null && paused.until > now))
}

function overCode({ spec, nextDecision }: ScheduleView): ScheduleCode {
  const stopped = nextDecision?.trail.find(({ effect }) => effect === 'stopped')?.rule
  if (stopped === 'finished') return 'finished'
  if (stopped === 'max-runs') return 'max-runs'
  if (stopped === 'end-at') return 'ended'
  if (stopped === 'calendar') return 'never-open'
  if (spec.timing.at !== undefined) return 'once-over'
  return spec.timing.cron === undefined ? 'no-timing' : 'calendar-over'
}

export function awaitedRun({ id, status }: RunView, { code, sentence, unblock }: RunSituation): AwaitedRun {
  return { run: id, status, code, sentence, unblock }
}
