import { cron } from '../../core/cron/cron.ts'
import { CronError } from '../../core/cron/cron-error.ts'
import type { Hold } from '../../core/hold.ts'
import { type HoldReason, holdSentence } from '../../core/hold-reason.ts'
import { useText } from '../../core/opening/closings.ts'
import { needOf } from '../../core/target.ts'
import { backedOffEveryMs } from '../../core/timing/schedule-backoff.ts'
import type { ScheduleView } from '../../store/views.ts'
import { type Fleet, haltOf, wayToUnhalt } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock, waysOfHold } from '../explain/unblock.ts'
import { about, clause, plural } from '../explain/words.ts'
import type { LastFailure } from '../schedule/last-failure.ts'
import type { AwaitedRun } from '../schedule/schedule-explained.ts'
import type { Reasons } from './catalogue.ts'

/** The facts that the sentences about a schedule use. */
export interface ScheduleFacts {
  readonly schedule: ScheduleView
  readonly fleet: Fleet
  /** The run that the schedule waits for, where that is still known. */
  readonly awaited: AwaitedRun | null
  /** The hold that keeps everything from firing, where there is one. */
  readonly stop: Hold | null
  /** The hold under which its next occurrence ends without a run, where there is one. */
  readonly skipping: Hold | null
  /** The hold on the schedule itself under which its occurrences fire and their runs wait, where there is one. */
  readonly held: Hold | null
  readonly reasons: Readonly<Record<string, HoldReason>>
  /** Its last failure, if it has failed since its last success and the failure is still kept. */
  readonly failure: LastFailure | null
}

export type ScheduleCode =
  | 'due-later'
  | 'due-now'
  | 'overdue'
  | 'waits-for-run'
  | 'paused'
  | 'held'
  | 'pause-over'
  | 'disabled'
  | 'ended'
  | 'finished'
  | 'max-runs'
  | 'once-over'
  | 'no-timing'
  | 'calendar-over'
  | 'never-open'
  | 'stopped'
  | 'skips'
  | 'broken-chain'
  | 'cannot-be-worked-out'
  | 'deleted'

const startWorker = byHand('Start a worker.', 'up')

/** Why a schedule is in its state; like `runReasons`. */
export const scheduleReasons: Reasons<ScheduleCode, ScheduleFacts> = {
  'due-later': {
    says: 'Its next occurrence is not due yet.',
    unblocks: 'Nothing to do: a worker fires it when it is due.',
    tone: 'well',
    sentence(facts) {
      const failures = failuresOf(facts)
      return failures === null ? this.says : `${clause(this.says)}, but ${failures}.`
    },
  },
  'due-now': {
    says: 'Its occurrence is due: a live worker makes a run of it at its next check.',
    unblocks: 'Nothing to do; if no worker is alive, start one.',
    tone: 'well',
    sentence(facts) {
      const halted = haltOf(facts.fleet)
      const due = isAlone(facts)
        ? 'Its occurrence is due, and no worker is alive.'
        : halted === null
          ? this.says
          : `Its occurrence is due, and no worker fires it: ${halted}.`
      const failures = failuresOf(facts)
      return failures === null ? due : `${due} But ${failures}.`
    },
    ways: (facts) => waysToFire(facts, []),
  },
  overdue: {
    says: 'It was due at least a minute ago, and no worker has fired it.',
    unblocks: 'Start a worker; if one is alive, find out why it does not fire.',
    tone: 'wrong',
    sentence(facts) {
      const { live } = facts.fleet
      const halted = haltOf(facts.fleet)
      if (live.length === 0) return 'It is overdue, and no worker is alive.'
      if (halted !== null) return `It is overdue, and no worker fires it: ${halted}.`
      return `It is overdue, and ${plural(live.length, 'live worker has', 'live workers have')} not fired it.`
    },
    ways: (facts) =>
      waysToFire(facts, [byHand('See the last heartbeats of the workers, and read their logs.', 'worker', 'list')]),
  },
  'waits-for-run': {
    says: 'Its next occurrence is measured from the end of a run that has not ended.',
    unblocks: 'That run ends.',
    tone: 'work',
    sentence(facts) {
      const waits = `Its next occurrence is measured from the end of ${facts.awaited?.run}, which has not ended`
      const failures = failuresOf(facts)
      return failures === null ? `${waits}.` : `${waits}. But ${failures}.`
    },
    ways: ({ awaited }) => (awaited === null ? [] : [byItself(`${awaited.run} ends.`), ...waysOf(awaited)]),
  },
  paused: {
    says: 'It is paused until an instant.',
    unblocks: 'Resume it, or wait for the end of the pause.',
    tone: 'waits',
    sentence: ({ schedule: { paused } }) => `It is paused: ${clause(paused?.reason ?? '')}.`,
    ways: ({ schedule }) => [byItself('The pause ends by itself.', schedule.paused?.until ?? null), resume(schedule)],
  },
  held: {
    says: 'A hold is on it, such as that of its paused group: none of its runs starts.',
    unblocks: 'Let the hold end, or release it.',
    tone: 'waits',
    sentence({ held, reasons }) {
      return held === null ? this.says : `${holdSentence(held, reasons)} Its runs wait.`
    },
    ways: ({ held, reasons }) => (held === null ? [] : waysOfHold(held, reasons)),
  },
  'pause-over': {
    says: 'Its pause is over: a live worker plans its next occurrence at its next check.',
    unblocks: 'Nothing to do; if no worker is alive, start one.',
    tone: 'waits',
    sentence(facts) {
      return isAlone(facts) ? 'Its pause is over, and no worker is alive to plan its next occurrence.' : this.says
    },
    ways: (facts) => (isAlone(facts) ? [startWorker] : []),
  },
  disabled: {
    says: 'It is paused until it is resumed.',
    unblocks: 'Resume it.',
    tone: 'waits',
    sentence: ({ schedule: { disabled } }) => `It is paused until it is resumed: ${clause(disabled?.reason ?? '')}.`,
    ways: ({ schedule }) => [resume(schedule)],
  },
  ended: {
    says: 'Its endAt is before its next instant.',
    unblocks: 'Set a later endAt, or none.',
    tone: 'waits',
  },
  finished: {
    says: 'One of its fields has ended it early: its `until` said yes after a run.',
    unblocks: 'Reset it, which starts it again; or change that field or its timing.',
    tone: 'well',
    sentence: ({ schedule: { finished } }) => `It has finished: its \`${finished}\` ended it after a run.`,
    ways: ({ schedule }) => [byHand('Start it again.', 'schedule', 'reset', schedule.spec.name), runByHand(schedule)],
  },
  'max-runs': {
    says: 'It has reached maxRuns.',
    unblocks: 'Raise maxRuns, or remove it.',
    tone: 'waits',
    sentence: ({ schedule: { spec } }) =>
      spec.maxRuns === 1 ? 'It has had its only run.' : `It has had all its ${spec.maxRuns} runs.`,
  },
  'once-over': {
    says: 'Its only instant is already planned.',
    unblocks: 'Set another instant, or run it by hand.',
    tone: 'waits',
    ways: ({ schedule }) => [runByHand(schedule), byHand('Or give it another instant.')],
  },
  'no-timing': {
    says: 'It has no timing of its own, and no hint is in force.',
    unblocks: 'Give it a hint or a timing, or run it by hand.',
    tone: 'waits',
    ways: ({ schedule }) => [runByHand(schedule), byHand('Or give it a hint, or a timing.')],
  },
  'calendar-over': {
    says: 'Its calendar has no further instant.',
    unblocks: 'Set another cron expression.',
    tone: 'waits',
  },
  'never-open': {
    says: 'None of its instants is in the open hours of its calendars.',
    unblocks: 'Change its calendars or its timing, or the hours of the calendars.',
    tone: 'wrong',
    sentence: ({ schedule: { calendars } }) =>
      `None of its instants is in the open hours of ${(calendars ?? []).map(useText).join(', ')}.`,
  },
  stopped: {
    says: 'A stop is on its namespace, queue, kind or account: it does not fire, and none of its runs is leased.',
    unblocks: 'Start it again with `belfry go`.',
    tone: 'waits',
    sentence({ stop, reasons }) {
      return stop === null ? this.says : holdSentence(stop, reasons)
    },
    ways: ({ stop, reasons }) => (stop === null ? [] : waysOfHold(stop, reasons)),
  },
  skips: {
    says: 'Its next occurrence ends without a run: a budget or a quota is used up.',
    unblocks: 'The next period, or more of what is used up.',
    tone: 'waits',
    sentence({ skipping, reasons }) {
      return skipping === null
        ? this.says
        : `Its next occurrence ends without a run: ${holdSentence(skipping, reasons)}`
    },
    ways: ({ skipping, reasons }) => (skipping === null ? [] : waysOfHold(skipping, reasons)),
  },
  'broken-chain': {
    says: 'It has no next instant and waits for no live run, which is a defect of Belfry.',
    unblocks: 'A live worker repairs it within five minutes and reports it.',
    tone: 'wrong',
    ways: (facts) =>
      isAlone(facts)
        ? [byHand('Start a worker, which repairs it.', 'up')]
        : [byItself('A live worker repairs it within five minutes.')],
  },
  'cannot-be-worked-out': {
    says: 'This machine cannot compute its next instant.',
    unblocks: 'Change the field that the sentence names, or use a machine that can compute it.',
    tone: 'wrong',
    sentence: ({ schedule }) => `This machine cannot compute its next instant: ${problemOf(schedule)}.`,
  },
  deleted: {
    says: 'It was deleted.',
    unblocks: 'It cannot be restored; its name is free for another.',
    tone: 'waits',
  },
}

function isAlone({ fleet: { live } }: ScheduleFacts): boolean {
  return live.length === 0
}

function waysToFire({ fleet }: ScheduleFacts, others: Unblock[]): Unblock[] {
  const halted = haltOf(fleet)
  if (halted !== null) return [wayToUnhalt(halted)]
  return fleet.live.length === 0 ? [startWorker] : others
}

function resume({ spec: { name } }: ScheduleView): Unblock {
  return byHand('Resume it.', 'schedule', 'resume', name)
}

function runByHand({ spec: { name } }: ScheduleView): Unblock {
  return byHand('Run it by hand.', 'schedule', 'run', name)
}

/** The failures in a row, the cause, and their effect on the interval; null when the last occurrence did not fail. */
function failuresOf({ schedule: { spec, failureCount }, failure }: ScheduleFacts): string | null {
  if (failureCount === 0) return null
  const last = failureCount === 1 ? 'the last one failed' : `the last ${failureCount} in a row failed`
  const why = failure?.reason == null ? '' : `${failureCount === 1 ? '' : ', last with'}: ${failure.reason}`
  const { everyMs } = spec.timing
  if (everyMs === undefined) return `${last}${why}`
  const waitMs = backedOffEveryMs({ everyMs, failureCount })
  return `${last}${why}; its interval of ${about(everyMs)} has become ${about(waitMs)}`
}

/** Why this machine cannot compute a schedule: its cron, its time zone or its target; null where it can. */
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

/** Leaves out the way "it ends by itself" of a run at work: the sentence already says so. */
function waysOf({ code, unblock }: AwaitedRun): readonly Unblock[] {
  return code === 'leased' ? unblock.filter(({ command, at }) => command !== null || at !== null) : unblock
}
