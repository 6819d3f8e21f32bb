import type { CodeTold } from '../run/standing-codes.ts'

/** Every place a schedule can stand in, with its sentence and what gets it out. docs/explain.md is held to this list. */
export const scheduleCodes = {
  'due-later': {
    says: 'Its next occurrence lies ahead.',
    unblocks: 'Nothing is needed: the instant comes by itself.',
  },
  'due-now': {
    says: 'Its occurrence is due: the next look of a live worker makes a run of it.',
    unblocks: 'Nothing is needed, or starting a worker where none is alive.',
  },
  overdue: {
    says: 'A worker should have looked at it a minute ago or longer, and none has.',
    unblocks: 'Starting a worker; where one is alive, a look at why it does not fire.',
  },
  'waits-for-run': {
    says: 'Its next occurrence is measured from the end of a run that has not ended.',
    unblocks: 'The end of that run.',
  },
  paused: {
    says: 'It is paused for a while.',
    unblocks: 'Resuming it, or the end of the pause.',
  },
  'pause-over': {
    says: 'Its pause is over: the next look of a live worker plans its next occurrence.',
    unblocks: 'Nothing is needed, or starting a worker where none is alive.',
  },
  disabled: {
    says: 'It is paused without end.',
    unblocks: 'Resuming it.',
  },
  ended: {
    says: 'It ends before its next instant would come.',
    unblocks: 'A later endAt, or none.',
  },
  'max-runs': {
    says: 'It has had all its runs.',
    unblocks: 'A higher maxRuns, or none.',
  },
  'once-over': {
    says: 'Its only instant has been planned already.',
    unblocks: 'A new instant, or a run by hand.',
  },
  'no-timing': {
    says: 'It has no timing of its own, and no hint counts.',
    unblocks: 'A hint, a run by hand, or a timing.',
  },
  'calendar-over': {
    says: 'Its calendar has no further instant.',
    unblocks: 'Another cron expression.',
  },
  stopped: {
    says: 'Everything is stopped: nothing is fired and nothing is leased.',
    unblocks: 'Starting everything again.',
  },
  'broken-chain': {
    says: 'It has neither a next instant nor a live run to wait for, which should not be.',
    unblocks: 'The repair pass of a live worker mends it within five minutes and says so.',
  },
  'cannot-be-worked-out': {
    says: 'This machine cannot work it out.',
    unblocks: 'Changing what is named, or a machine that knows it.',
  },
  deleted: {
    says: 'It was deleted.',
    unblocks: 'Nothing brings it back; its name is free for another.',
  },
} as const satisfies Readonly<Record<string, CodeTold>>

export type ScheduleCode = keyof typeof scheduleCodes
