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
    says: 'What `every` counts from: the end of the previous run, or a fixed grid that begins with the schedule.',
    default: 'end',
  }),
  at: instant({ says: 'The one instant at which it runs.' }),
}

/** The other fields of a schedule, except its name and the execution of its runs. */
export const scheduleFields = {
  startNow: flag({
    says: 'Whether the first run of `every` is due at once, not after the first interval.',
    default: false,
  }),
  startAt: instant({ says: 'Nothing is planned before this instant.' }),
  endAt: instant({ says: 'Nothing is planned after this instant.' }),
  maxRuns: integer(1, countMax, { says: 'How many occurrences become runs before the schedule ends.' }),
  min: duration({ says: 'The least time between two runs, whatever hints request.' }),
  max: duration({ says: 'The most time between two runs, whatever hints and failures request.' }),
  window: plain({
    says: 'The minutes in which hints of rules, planners and agents may run it, as a cron: * 8-19 * * 1-5.',
  }),
  overlap: choice(['skip', 'queue', 'allow', 'cancel'], {
    says: 'What happens to an occurrence while a run of the schedule is live: skip it, queue it, allow both, or cancel the live run.',
    defaultSays: 'skip, and queue with missed all',
  }),
  queueMax: integer(1, countMax, {
    says: 'How many occurrences may wait with overlap queue.',
    defaultSays: '1, and 100 with missed all',
  }),
  missed: choice(['skip', 'once', 'all'], {
    says: 'What happens to occurrences that came due while no worker ran: run none, one for all, or each of the newest 100. The ledger only counts older ones.',
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
  description: text('text', descriptionLengthMax, { says: 'What the schedule is for, in words.' }),
}
