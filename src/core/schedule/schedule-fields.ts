import { choice, duration, flag, instant, integer, plain, text } from '../field-table.ts'
import { workFields } from '../run/work-fields.ts'

/** A shorter period is a busy loop through the store. */
export const everyMsMin = 1_000
const countMax = 1_000_000_000
const descriptionLengthMax = 10_000

/** When a schedule runs. It is stored as its timing. */
export const timingFields = {
  cron: plain({
    says: 'The calendar as a cron expression, such as 0 9 * * 1-5.',
    hint: 'One of cron, every and at is given, or none.',
  }),
  zone: plain({
    says: 'The IANA zone that the cron is read in, such as Europe/Paris.',
    defaultSays: 'the zone of the process that creates it, which is kept',
  }),
  every: duration({
    min: everyMsMin,
    says: 'The time between two runs.',
    hint: 'After failures it doubles, five times at most, until one succeeds.',
  }),
  from: choice(['end', 'start'], {
    says: 'Where every counts from: the end of the run before, or a grid that begins with the schedule.',
    default: 'end',
  }),
  at: instant({ says: 'The one instant at which it runs.' }),
}

/** The other fields of a schedule, except its name and the execution of its runs. */
export const scheduleFields = {
  startNow: flag({ says: 'Whether an every begins at once instead of after its first interval.', default: false }),
  startAt: instant({ says: 'Nothing is planned before this instant.' }),
  endAt: instant({ says: 'Nothing is planned after this instant.' }),
  maxRuns: integer(1, countMax, { says: 'How many occurrences become runs before the schedule ends.' }),
  min: duration({ says: 'The least time between two runs, whatever hints request.' }),
  max: duration({ says: 'The most time between two runs, whatever hints and failures request.' }),
  window: plain({ says: 'The minutes open to hints that no person gave, as a cron: * 8-19 * * 1-5.' }),
  overlap: choice(['skip', 'queue', 'allow', 'cancel'], {
    says: 'What becomes of an occurrence while a run of the schedule has not ended: it is skipped, waits, runs beside it, or cancels it.',
    defaultSays: 'skip, and queue with missed all',
  }),
  queueMax: integer(1, countMax, {
    says: 'How many may wait under overlap queue.',
    defaultSays: '1, and 100 with missed all',
  }),
  missed: choice(['skip', 'once', 'all'], {
    says: 'What becomes of occurrences while no worker ran: none of them runs, one for all, or each of the newest 100; the ledger counts those before.',
    default: 'once',
  }),
  maxLateness: duration({
    min: 0,
    says: 'How late a missed occurrence may still run.',
    defaultSays: 'the time to the next one, at most 24h; 24h where every counts from the end',
  }),
  pauseAfterFailures: integer(1, countMax, { says: 'After how many failures in a row it is paused.' }),
  maxNoop: integer(1, countMax, {
    says: 'After how many no-ops (expect.noop) in a row it is paused.',
  }),
  ...workFields,
  description: text('text', descriptionLengthMax, { says: 'What it is for, for people.' }),
}
