import { cron } from '../../core/cron/cron.ts'
import { CronError } from '../../core/cron/cron-error.ts'
import { overdueMs } from '../../core/overdue.ts'
import { isLive, type RunStatus } from '../../core/run-state.ts'
import { needOf } from '../../core/target.ts'
import { backedOffEveryMs } from '../../core/timing.ts'
import type { RunView, ScheduleView } from '../../store/view.ts'
import type { Fleet } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock } from '../explain/unblock.ts'
import { about, clause, plural } from '../explain/words.ts'
import type { RunStanding } from '../run/standing.ts'
import { whatItWrote } from '../run/unblock.ts'
import type { LastFailure } from './last-failure.ts'
import { type ScheduleCode, scheduleCodes } from './standing-codes.ts'

/** A run by its id, and how it stands. */
export interface AwaitedRun extends Pick<RunStanding, 'code' | 'sentence' | 'unblock'> {
  readonly run: string
  readonly status: RunStatus
}

export interface ScheduleStanding {
  readonly code: ScheduleCode
  readonly sentence: string
  readonly unblock: readonly Unblock[]
}

export interface StandingInput {
  readonly schedule: ScheduleView
  readonly fleet: Fleet
  /** The run it waits for, where that is still known. */
  readonly awaited: AwaitedRun | null
  /** Everything is stopped, by a flag of the namespace. */
  readonly isStopped: boolean
  /** Its last failure, where it has failed since it last succeeded and that is still kept. */
  readonly failure: LastFailure | null
}

/** Where a schedule stands, from what forbids everything down to what it waits for by itself. */
export function standingOf(input: StandingInput): ScheduleStanding {
  const code = codeOf(input)
  const wrote =
    input.failure === null ? [] : [{ ...whatItWrote(input.failure.runId), what: 'See what the last failed run wrote.' }]
  return { code, sentence: sentenceOf(code, input), unblock: [...unblockOf(code, input), ...wrote] }
}

function codeOf({ schedule, fleet, awaited, isStopped }: StandingInput): ScheduleCode {
  const { now } = fleet
  if (schedule.deletedAt !== null) return 'deleted'
  if (schedule.disabled !== null) return 'disabled'
  if (isPausedAt(schedule, now)) return 'paused'
  if (problemOf(schedule) !== null) return 'cannot-be-worked-out'
  if (isStopped) return 'stopped'
  if (schedule.waitsFor !== null) return awaited !== null && isLive(awaited.status) ? 'waits-for-run' : 'broken-chain'
  if (schedule.wakeAt !== null && overdueMs({ now, wakeAt: schedule.wakeAt }) !== null) return 'overdue'
  if (schedule.nextDueAt !== null) return schedule.nextDueAt <= now ? 'due-now' : 'due-later'
  if (schedule.paused !== null) return 'pause-over'
  return schedule.nextDecision?.source === 'none' ? overCode(schedule) : 'broken-chain'
}

export function isPausedAt({ disabled, paused, deletedAt }: ScheduleView, now: number): boolean {
  return deletedAt === null && (disabled !== null || (paused !== null && paused.until > now))
}

function overCode({ spec, nextDecision }: ScheduleView): ScheduleCode {
  const stopped = nextDecision?.trail.find(({ effect }) => effect === 'stopped')?.rule
  if (stopped === 'max-runs') return 'max-runs'
  if (stopped === 'end-at') return 'ended'
  if (spec.timing.at !== undefined) return 'once-over'
  return spec.timing.cron === undefined ? 'no-timing' : 'calendar-over'
}

/** Why this machine cannot work a schedule out: its cron, its time zone or its target; null where it can. */
export function problemOf({ spec: { timing, target } }: Pick<ScheduleView, 'spec'>): string | null {
  const need = needOf(target)
  if ('problem' in need) return `its target ${need.problem}`
  if (timing.cron === undefined) return null
  try {
    cron(timing.cron, timing.zone)
    return null
  } catch (error) {
    if (error instanceof CronError) return error.message.replace(/\.$/, '')
    throw error
  }
}

function sentenceOf(code: ScheduleCode, input: StandingInput): string {
  const { says } = scheduleCodes[code]
  const { schedule, fleet, awaited } = input
  const failures = failuresOf(input)
  switch (code) {
    case 'due-later':
      return failures === null ? says : `${clause(says)}, but ${failures}.`
    case 'due-now': {
      const due = fleet.live.length === 0 ? 'Its occurrence is due, and no worker is alive.' : says
      return failures === null ? due : `${due} But ${failures}.`
    }
    case 'pause-over':
      return fleet.live.length === 0 ? 'Its pause is over, and no worker is alive to plan its next occurrence.' : says
    case 'disabled':
      return `It is paused without end: ${clause(schedule.disabled?.reason ?? '')}.`
    case 'paused':
      return `It is paused for a while: ${clause(schedule.paused?.reason ?? '')}.`
    case 'cannot-be-worked-out':
      return `This machine cannot work it out: ${problemOf(schedule)}.`
    case 'waits-for-run': {
      const waits = `Its next occurrence is measured from the end of ${awaited?.run}, which has not ended`
      return failures === null ? `${waits}.` : `${waits}. But ${failures}.`
    }
    case 'overdue':
      if (fleet.live.length === 0) return 'It should have been looked at, and no worker is alive.'
      return `It should have been looked at, and ${plural(fleet.live.length, 'live worker has', 'live workers have')} not.`
    case 'max-runs':
      return schedule.spec.maxRuns === 1
        ? 'It has had its only run.'
        : `It has had all its ${schedule.spec.maxRuns} runs.`
    default:
      return says
  }
}

/** How many failed in a row, why, and what that made of its interval; null where the last one did not. */
function failuresOf({ schedule: { spec, failureCount }, failure }: StandingInput): string | null {
  if (failureCount === 0) return null
  const last = failureCount === 1 ? 'the last one failed' : `the last ${failureCount} in a row failed`
  const why = failure?.reason == null ? '' : `${failureCount === 1 ? '' : ', last with'}: ${failure.reason}`
  const { everyMs } = spec.timing
  if (everyMs === undefined) return `${last}${why}`
  const waitMs = backedOffEveryMs({ everyMs, failureCount })
  return `${last}${why}; its interval of ${about(everyMs)} has become ${about(waitMs)}`
}

function unblockOf(code: ScheduleCode, { schedule, fleet, awaited }: StandingInput): Unblock[] {
  const { name } = schedule.spec
  const startWorker = byHand('Start a worker.', 'up')
  const resume = byHand('Resume it.', 'schedule', 'resume', name)
  const runByHand = byHand('Run it by hand.', 'schedule', 'run', name)
  switch (code) {
    case 'paused':
      return [byItself('The pause ends by itself.', schedule.paused?.until ?? null), resume]
    case 'disabled':
      return [resume]
    case 'due-now':
    case 'pause-over':
      return fleet.live.length === 0 ? [startWorker] : []
    case 'overdue':
      return fleet.live.length === 0
        ? [startWorker]
        : [byHand('See when the workers were last heard of, and what they log.', 'worker', 'list')]
    case 'waits-for-run':
      return awaited === null ? [] : [byItself(`${awaited.run} ends.`), ...waysOf(awaited)]
    case 'broken-chain':
      return fleet.live.length === 0
        ? [byHand('Start a worker, whose repair pass mends it.', 'up')]
        : [byItself('The repair pass of a live worker mends it within five minutes.')]
    case 'once-over':
      return [runByHand, byHand('Or give it another instant.')]
    case 'no-timing':
      return [runByHand, byHand('Or give it a hint, or a timing.')]
    case 'due-later':
      return []
    default:
      return [byHand(scheduleCodes[code].unblocks)]
  }
}

/** That a run at work ends by itself is said already. */
function waysOf({ code, unblock }: AwaitedRun): readonly Unblock[] {
  return code === 'leased' ? unblock.filter(({ command, at }) => command !== null || at !== null) : unblock
}

export function awaitedRun({ id, status }: RunView, { code, sentence, unblock }: RunStanding): AwaitedRun {
  return { run: id, status, code, sentence, unblock }
}
