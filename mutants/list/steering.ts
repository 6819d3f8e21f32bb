// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import { conformance, type Mutant } from '../mutant.ts'

/** What people, failures and clocks may do to a schedule, and what is told of it. */
export const steering: readonly Mutant[] = [
  {
    id: 'failures-never-pause',
    hazard: 'A schedule that should pause after failures goes on failing.',
    edits: [['pausedByFailures', 'if (disabledAt !== null || Math.floor', 'if (now > 0 || Math.floor']],
    suites: ['test/store/schedule-end.test.ts'],
  },
  {
    id: 'failures-always-pause',
    hazard: 'The first failure pauses a schedule that allows several.',
    edits: [
      [
        'pausedByFailures',
        'Math.floor(failureCount / most) <= Math.floor(failuresBefore / most)',
        'failureCount <= failuresBefore',
      ],
    ],
    suites: ['test/store/schedule-end.test.ts'],
  },
  {
    id: 'cancel-counts-as-failure',
    hazard: 'A cancelled occurrence counts as a failure and backs its schedule off.',
    edits: [['failuresAfter', "return status === 'failed' || status === 'parked' ?", "return status !== 'skipped' ?"]],
    suites: ['test/choices/intervals.test.ts'],
  },
  {
    id: 'schedule-never-backs-off',
    hazard: 'A failing interval schedule goes on at its full pace.',
    edits: [
      [
        'backedOffEveryMs',
        'return everyMs * 2 ** Math.min(failureCount, backoffDoublingsMax)',
        'return everyMs * 2 ** Math.min(failureCount, 0)',
      ],
    ],
    suites: ['test/core/timing.test.ts'],
  },
  {
    id: 'deleted-schedule-fires',
    hazard: 'A deleted schedule goes on firing.',
    edits: [['deleteSchedule', 'wakeAt: null, deletedAt: now }', 'wakeAt: found.wakeAt, deletedAt: now }']],
    suites: ['test/store/schedule-put.test.ts'],
  },
  {
    id: 'deleted-schedule-planned-again',
    hazard: 'The end of a run brings its deleted schedule back to life.',
    edits: [['occurrencesEnded', 'filter(({ deletedAt }) => deletedAt === null)', 'filter(({ id }) => id > 0)']],
    suites: ['test/store/schedule-put.test.ts', conformance('memory: law 11')],
  },
  {
    id: 'deleted-schedule-retries',
    hazard: 'A run of a deleted schedule is tried again.',
    edits: [
      [
        'leases/settle.ts judge',
        'orphans.has(runId) ? withoutFurtherAttempt(given) : given',
        'orphans.has(0 * runId) ? withoutFurtherAttempt(given) : given',
      ],
    ],
    suites: [conformance('memory: law 11')],
  },
  {
    id: 'deleted-schedule-leaves-runs',
    hazard: 'What a deleted schedule had in line still runs.',
    edits: [
      [
        'deleteSchedule',
        "yield* cancelRuns(context, now, deleted, { reason: 'schedule-deleted', leased: cancelLeased })",
        '',
      ],
    ],
    suites: ['test/store/schedule-put.test.ts'],
  },
  {
    id: 'deleted-name-stays-taken',
    hazard: 'The name of a deleted schedule cannot be used again.',
    edits: [['ground', 'on belfry.schedule (ns, name) where deleted_at is null', 'on belfry.schedule (ns, name)']],
    suites: ['test/store/schedule-put.test.ts'],
  },
  {
    id: 'paused-runs-start',
    hazard: 'What was ready when its schedule was paused starts all the same.',
    edits: [['savePaused', 'yield* holdRuns(paused)', '']],
    suites: ['test/store/schedule-pause.test.ts'],
  },
  {
    id: 'paused-retry-starts',
    hazard: 'A run that fails while its schedule is paused is tried again during the pause.',
    edits: [['returnToQueue', "setsAside(schedule, now) ? 'held' : null", 'setsAside(schedule, 0) ? null : null']],
    suites: ['test/store/schedule-pause.test.ts'],
  },
  {
    id: 'resumed-runs-stay-held',
    hazard: 'What a pause held back never goes again.',
    edits: [['endPause', 'yield* releaseRuns(now, resumed)', '']],
    suites: ['test/store/schedule-pause.test.ts'],
  },
  {
    id: 'fires-early',
    hazard: 'Occurrences come before their instant.',
    edits: [
      [
        'fire-due.ts dueRows',
        'where s.wake_at <= (select ${now}) and',
        'where s.wake_at <= (select ${now}) + 1000 and',
      ],
      ['takeTurn', 'nextDueAt !== null && nextDueAt <= now &&', 'nextDueAt !== null && nextDueAt <= now + 1_000 &&'],
      ['missed.ts missed', '.filter((one) => one.dueAt <= now)', '.filter((one) => one.dueAt <= now + 1_000)'],
      [
        'occurrences',
        'const { now, schedule, state } = input',
        'const { schedule, state } = input\n  const now = input.now + 1_000',
      ],
    ],
    suites: ['test/core/missed.test.ts', 'test/store/schedule-fire.test.ts'],
  },
  {
    id: 'spread-makes-recurring-early',
    hazard: 'The spread moves what recurs before its instant.',
    edits: [
      ['spread', 'return Math.floor(fractionOfId(id) * Math.min(', 'return -Math.floor(fractionOfId(id) * Math.min('],
    ],
    suites: ['test/core/spread.test.ts'],
  },
  {
    id: 'oneshot-due-before-it-existed',
    hazard: 'An early one-shot is due before it was created, and fires at once.',
    edits: [
      ['dueAt', 'return due < plannedAt && createdAt !== undefined && due < createdAt ? plannedAt : due', 'return due'],
    ],
    suites: ['test/core/spread.test.ts', 'test/choices/spread-and-ledger.test.ts'],
  },
  {
    id: 'decision-not-kept',
    hazard: 'A run does not know why it was planned.',
    edits: [['runsOf', 'decision: { at, version, state, unmeasured, calendars, spread, trail },', 'decision: null,']],
    suites: ['test/store/schedule-fire.test.ts', 'test/operations/run/explain.test.ts'],
  },
  {
    id: 'next-computed-apart-from-the-engine',
    hazard: 'What is shown as next ignores the runs that are live then, unlike the engine.',
    edits: [
      ['afterLook', 'takeTurn(row, now, leasedBy(ahead, now))', 'takeTurn(row, now, leasedBy(ahead, now).slice(0, 0))'],
    ],
    suites: ['test/operations/schedule/upcoming-engine.test.ts', 'test/operations/schedule/upcoming-late.test.ts'],
  },
  {
    id: 'plan-shown-without-the-rate',
    hazard: 'What is shown as next ignores the rate by which the engine leases.',
    edits: [
      [
        'planInput',
        'recentStarts: yield* recentStarts(queueId, policy.rateLimit, now)',
        'recentStarts: (yield* recentStarts(queueId, policy.rateLimit, now)).slice(0, 0)',
      ],
    ],
    suites: ['test/store/plan-input.test.ts', conformance('memory: law 13')],
  },
]
