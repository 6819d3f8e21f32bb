// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const closed = 'test/parts/admission/calendars/closed.test.ts'
const doors = 'test/parts/admission/calendars/doors.test.ts'

/** Calendars that let something start in closed hours, or lose an occurrence there. */
export const openings: readonly Mutant[] = [
  {
    id: 'edited-calendar-keeps-its-closings',
    hazard: 'A calendar that is closed by an edit lets runs start until its closings are written again.',
    edits: [['putCalendar', 'yield* rewriteClosings(context, name, now)', '']],
    suites: [closed],
  },
  {
    id: 'first-use-writes-no-closings',
    hazard: 'The first run that follows a calendar starts in its closed hours.',
    edits: [['followCalendars', 'yield* writeClosings(context, { scope, subject, calendar }, now)', '']],
    suites: [closed],
  },
  {
    id: 'closings-end-at-their-horizon',
    hazard: 'Runs start in closed hours once no worker has renewed the closings for two days.',
    edits: [['closings', 'until: isLast ? null : changesAt', 'until: changesAt']],
    suites: ['test/core/closings.test.ts'],
  },
  {
    id: 'clock-set-back-finds-no-closings',
    hazard: 'Runs start in closed hours when the clock is set back to before the closings were written.',
    edits: [['writeClosings', 'yield* closeBefore(context, use, now)', '']],
    suites: [closed],
  },
  {
    id: 'ended-closing-is-forgotten',
    hazard: 'Runs start in closed hours when the clock is set back into a closing that had ended.',
    edits: [['turn-holds.ts turned', 'row.reason !== calendarReason) yield*', "row.reason !== '') yield*"]],
    suites: [closed],
  },
  {
    id: 'clock-set-back-closes-for-good',
    hazard:
      'After the clock is set back work waits until it has caught up, which may be days, although its calendar is open.',
    edits: [['renewClosings', 'if (row !== undefined) yield*', 'if (row === undefined) yield*']],
    suites: [closed],
  },
  {
    id: 'deleted-calendar-is-open',
    hazard: 'A run that names a calendar which was deleted starts at any time.',
    edits: [['writeClosings', 'missing.length > 0\n      ?', 'missing.length < 0\n      ?']],
    suites: ['test/parts/admission/calendars/operations.test.ts'],
  },
  {
    id: 'governor-plans-in-closed-hours',
    hazard: 'A schedule is planned for closed hours.',
    edits: [['governor.ts bounded', 'if (opensAt > at) {', 'if (opensAt < at) {']],
    suites: ['test/core/calendar-bound.test.ts'],
  },
  {
    id: 'passed-occurrences-have-no-end',
    hazard: 'Occurrences that a closed calendar passed over are in no row of the ledger.',
    edits: [['turn.ts withDue', 'const passed = [...turn.passed, ...closed]', 'const passed = turn.passed']],
    suites: ['test/core/schedule/calendars.test.ts'],
  },
  {
    id: 'asking-again-forgets-passed-occurrences',
    hazard: 'An edit in closed hours loses the occurrences that were passed over before it.',
    edits: [
      [
        'next-plan.ts closedFrom',
        'if (noted === undefined || noted > asked.at) return passesFrom',
        'return passesFrom',
      ],
    ],
    suites: ['test/core/schedule/calendars.test.ts'],
  },
  {
    id: 'change-asks-no-schedules-again',
    hazard: 'Schedules keep the hours that their calendar had before it was changed.',
    edits: [['putCalendar', 'yield* askAfterChange(context, { all: false })', '']],
    suites: [closed],
  },
  {
    id: 'closed-queue-is-leased',
    hazard: 'While a queue is closed and one run is forced, all others start too.',
    edits: [['forcedLanes', "n.calendar = '${forcedCalendar}' and ", '']],
    suites: [closed],
  },
  {
    id: 'forced-run-passes-a-hold',
    hazard: 'A run that was forced past closed calendars starts although a person holds its queue.',
    edits: [['isForced', ' and h.reason not in (${passed})', " and h.reason = ''"]],
    suites: [closed],
  },
  {
    id: 'agent-forces-past-calendars',
    hazard: 'An agent starts a schedule in closed hours.',
    edits: [['schedule-control.ts run', " && callerKind(context.actor) === 'person'", '']],
    suites: [doors],
  },
  {
    id: 'agent-takes-calendars-away',
    hazard: 'An agent frees a schedule from the calendars that a person gave it.',
    edits: [['refuseLoosening', "callerKind(actor) !== 'agent'", "callerKind(actor) === 'agent'"]],
    suites: [doors],
  },
  {
    id: 'work-goes-on-at-close',
    hazard: 'Work that should be given back when its calendar closes goes on through the closed hours.',
    edits: [['releaseAtClose', "=== 'release'", "=== 'finish'"]],
    suites: [closed],
  },
]
