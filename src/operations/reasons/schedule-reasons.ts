import { cron } from '../../core/cron/cron.ts'
import { CronError } from '../../core/cron/cron-error.ts'
import type { Hold } from '../../core/hold.ts'
import { type HoldReason, holdSentence } from '../../core/hold-reason.ts'
import type { RunStatus } from '../../core/run/run-state.ts'
import { needOf } from '../../core/target.ts'
import { backedOffEveryMs } from '../../core/timing/timing.ts'
import type { ScheduleView } from '../../store/views.ts'
import type { Fleet } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock, waysOfHold } from '../explain/unblock.ts'
import { about, clause, plural } from '../explain/words.ts'
import type { RunSituation } from '../run/run-situation.ts'
import type { LastFailure } from '../schedule/last-failure.ts'
import type { Reasons } from './catalogue.ts'

/** A run by its id, and how it stands. */
export interface AwaitedRun extends Pick<RunSituation, 'code' | 'sentence' | 'unblock'> {
  readonly run: string
  readonly status: RunStatus
}

/** All that the words about a schedule are made of. */
export interface ScheduleFacts {
  readonly schedule: ScheduleView
  readonly fleet: Fleet
  /** The run it waits for, where that is still known. */
  readonly awaited: AwaitedRun | null
  /** The hold under which nothing fires, where there is one. */
  readonly stop: Hold | null
  /** Why work may be held. */
  readonly reasons: Readonly<Record<string, HoldReason>>
  /** Its last failure, where it has failed since it last succeeded and that is still kept. */
  readonly failure: LastFailure | null
}

export type ScheduleCode =
  | 'due-later'
  | 'due-now'
  | 'overdue'
  | 'waits-for-run'
  | 'paused'
  | 'pause-over'
  | 'disabled'
  | 'ended'
  | 'max-runs'
  | 'once-over'
  | 'no-timing'
  | 'calendar-over'
  | 'stopped'
  | 'broken-chain'
  | 'cannot-be-worked-out'
  | 'deleted'

const startWorker = byHand('Start a worker.', 'up')

/** Why a schedule stands where it does, as `runReasons` has it of runs. */
export const scheduleReasons: Reasons<ScheduleCode, ScheduleFacts> = {
  'due-later': {
    says: 'Its next occurrence lies ahead.',
    unblocks: 'Nothing is needed: the instant comes by itself.',
    tone: 'well',
    sentence(facts) {
      const failures = failuresOf(facts)
      return failures === null ? this.says : `${clause(this.says)}, but ${failures}.`
    },
  },
  'due-now': {
    says: 'Its occurrence is due: the next look of a live worker makes a run of it.',
    unblocks: 'Nothing is needed, or starting a worker where none is alive.',
    tone: 'well',
    sentence(facts) {
      const due = isAlone(facts) ? 'Its occurrence is due, and no worker is alive.' : this.says
      const failures = failuresOf(facts)
      return failures === null ? due : `${due} But ${failures}.`
    },
    ways: (facts) => (isAlone(facts) ? [startWorker] : []),
  },
  overdue: {
    says: 'A worker should have looked at it a minute ago or longer, and none has.',
    unblocks: 'Starting a worker; where one is alive, a look at why it does not fire.',
    tone: 'wrong',
    sentence({ fleet: { live } }) {
      if (live.length === 0) return 'It should have been looked at, and no worker is alive.'
      return `It should have been looked at, and ${plural(live.length, 'live worker has', 'live workers have')} not.`
    },
    ways: (facts) =>
      isAlone(facts)
        ? [startWorker]
        : [byHand('See when the workers were last heard of, and what they log.', 'worker', 'list')],
  },
  'waits-for-run': {
    says: 'Its next occurrence is measured from the end of a run that has not ended.',
    unblocks: 'The end of that run.',
    tone: 'work',
    sentence(facts) {
      const waits = `Its next occurrence is measured from the end of ${facts.awaited?.run}, which has not ended`
      const failures = failuresOf(facts)
      return failures === null ? `${waits}.` : `${waits}. But ${failures}.`
    },
    ways: ({ awaited }) => (awaited === null ? [] : [byItself(`${awaited.run} ends.`), ...waysOf(awaited)]),
  },
  paused: {
    says: 'It is paused for a while.',
    unblocks: 'Resuming it, or the end of the pause.',
    tone: 'waits',
    sentence: ({ schedule: { paused } }) => `It is paused for a while: ${clause(paused?.reason ?? '')}.`,
    ways: ({ schedule }) => [byItself('The pause ends by itself.', schedule.paused?.until ?? null), resume(schedule)],
  },
  'pause-over': {
    says: 'Its pause is over: the next look of a live worker plans its next occurrence.',
    unblocks: 'Nothing is needed, or starting a worker where none is alive.',
    tone: 'waits',
    sentence(facts) {
      return isAlone(facts) ? 'Its pause is over, and no worker is alive to plan its next occurrence.' : this.says
    },
    ways: (facts) => (isAlone(facts) ? [startWorker] : []),
  },
  disabled: {
    says: 'It is paused without end.',
    unblocks: 'Resuming it.',
    tone: 'waits',
    sentence: ({ schedule: { disabled } }) => `It is paused without end: ${clause(disabled?.reason ?? '')}.`,
    ways: ({ schedule }) => [resume(schedule)],
  },
  ended: {
    says: 'It ends before its next instant would come.',
    unblocks: 'A later endAt, or none.',
    tone: 'waits',
  },
  'max-runs': {
    says: 'It has had all its runs.',
    unblocks: 'A higher maxRuns, or none.',
    tone: 'waits',
    sentence: ({ schedule: { spec } }) =>
      spec.maxRuns === 1 ? 'It has had its only run.' : `It has had all its ${spec.maxRuns} runs.`,
  },
  'once-over': {
    says: 'Its only instant has been planned already.',
    unblocks: 'A new instant, or a run by hand.',
    tone: 'waits',
    ways: ({ schedule }) => [runByHand(schedule), byHand('Or give it another instant.')],
  },
  'no-timing': {
    says: 'It has no timing of its own, and no hint counts.',
    unblocks: 'A hint, a run by hand, or a timing.',
    tone: 'waits',
    ways: ({ schedule }) => [runByHand(schedule), byHand('Or give it a hint, or a timing.')],
  },
  'calendar-over': {
    says: 'Its calendar has no further instant.',
    unblocks: 'Another cron expression.',
    tone: 'waits',
  },
  stopped: {
    says: 'Everything is stopped: nothing is fired and nothing is leased.',
    unblocks: 'Starting everything again.',
    tone: 'waits',
    sentence({ stop, reasons }) {
      return stop === null ? this.says : holdSentence(stop, reasons)
    },
    ways: ({ stop, reasons }) => (stop === null ? [] : waysOfHold(stop, reasons)),
  },
  'broken-chain': {
    says: 'It has neither a next instant nor a live run to wait for, which should not be.',
    unblocks: 'The repair pass of a live worker mends it within five minutes and says so.',
    tone: 'wrong',
    ways: (facts) =>
      isAlone(facts)
        ? [byHand('Start a worker, whose repair pass mends it.', 'up')]
        : [byItself('The repair pass of a live worker mends it within five minutes.')],
  },
  'cannot-be-worked-out': {
    says: 'This machine cannot work it out.',
    unblocks: 'Changing what is named, or a machine that knows it.',
    tone: 'wrong',
    sentence: ({ schedule }) => `This machine cannot work it out: ${problemOf(schedule)}.`,
  },
  deleted: {
    says: 'It was deleted.',
    unblocks: 'Nothing brings it back; its name is free for another.',
    tone: 'waits',
  },
}

function isAlone({ fleet: { live } }: ScheduleFacts): boolean {
  return live.length === 0
}

function resume({ spec: { name } }: ScheduleView): Unblock {
  return byHand('Resume it.', 'schedule', 'resume', name)
}

function runByHand({ spec: { name } }: ScheduleView): Unblock {
  return byHand('Run it by hand.', 'schedule', 'run', name)
}

/** How many failed in a row, why, and what that made of its interval; null where the last one did not. */
function failuresOf({ schedule: { spec, failureCount }, failure }: ScheduleFacts): string | null {
  if (failureCount === 0) return null
  const last = failureCount === 1 ? 'the last one failed' : `the last ${failureCount} in a row failed`
  const why = failure?.reason == null ? '' : `${failureCount === 1 ? '' : ', last with'}: ${failure.reason}`
  const { everyMs } = spec.timing
  if (everyMs === undefined) return `${last}${why}`
  const waitMs = backedOffEveryMs({ everyMs, failureCount })
  return `${last}${why}; its interval of ${about(everyMs)} has become ${about(waitMs)}`
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

/** That a run at work ends by itself is said already. */
function waysOf({ code, unblock }: AwaitedRun): readonly Unblock[] {
  return code === 'leased' ? unblock.filter(({ command, at }) => command !== null || at !== null) : unblock
}
