// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const notice = 'test/parts/notices/ends.test.ts'
const overdue = 'test/parts/notices/overdue.test.ts'
const memory = 'test/parts/notices/notice.test.ts'
const backfill = 'test/parts/backfill/store.test.ts'
const doctor = 'test/parts/notices/check.test.ts'

/** A word when something fails, once, and to whom; and what is made up for the past, once. */
export const notices: readonly Mutant[] = [
  {
    id: 'notice-of-a-notice',
    hazard: 'A receiver that is down is told of that, which fails, of which it is told, for ever.',
    edits: [
      ['notifyEnds', `if (row === undefined || row.source === 'notice') return []`, 'if (row === undefined) return []'],
    ],
    suites: [notice],
  },
  {
    id: 'retried-notice-is-told-of',
    hazard: 'A notice that a person tries again and that fails once more is told of like any other work.',
    edits: [['sourceOfRetry', "? first : 'retry'", "? 'retry' : 'retry'"]],
    suites: [notice],
  },
  {
    id: 'recovery-leaves-the-quiet',
    hazard: 'The failure that follows a recovery is held back for the one before it.',
    edits: [
      [
        'recoveryDecision',
        '({ ...trouble, quietUntil: 0, suppressed: 0, isOpen: false })',
        '({ ...trouble, suppressed: 0, isOpen: false })',
      ],
    ],
    suites: [memory, notice],
  },
  {
    id: 'quiet-until-the-clock-was-right',
    hazard: 'A notice that was told by a clock far ahead silences all that follow until that instant.',
    edits: [
      ['notice.ts isQuiet', 'return now < quietUntil && quietUntil - now <= noticeQuietMs', 'return now < quietUntil'],
    ],
    suites: [memory],
  },
  {
    id: 'batch-counts-its-failures-at-the-end',
    hazard: 'Of a failure beside a success in one step somebody is told, and never that it is over.',
    edits: [
      [
        'notableOf',
        'schedules.get(id)?.failures.get(runId) ?? was',
        '[...(schedules.get(id)?.failures.values() ?? [])].at(-1) ?? was',
      ],
    ],
    suites: [notice],
  },
  {
    id: 'overdue-at-the-first-look',
    hazard: 'What was just resumed, or is late because nobody was there, is called overdue while it is being started.',
    edits: [
      ['overdueDecision', 'if (isSeenAgain) return noticeDecision', 'if (isSeenAgain || true) return noticeDecision'],
    ],
    suites: [overdue, memory],
  },
  {
    id: 'overdue-hides-behind-others',
    hazard: 'Where more schedules are late than one step looks at, those behind them are never told of.',
    edits: [
      [
        'lateOf',
        '(findLate, ns, before, limit, ...place), limit,',
        '(findLate, ns, before, limit, ...place), limit + 1,',
      ],
    ],
    suites: [overdue],
  },
  {
    id: 'paused-queue-is-overdue',
    hazard: 'Whoever pauses a queue is told that nobody starts what is in it.',
    edits: [
      [
        'notice-overdue.ts isOverdue',
        'return run.held_by === null && isLate(run, before)',
        'return isLate(run, before)',
      ],
    ],
    suites: [overdue],
  },
  {
    id: 'waiting-for-its-own-is-overdue',
    hazard: 'A run that stands behind another of its own schedule is called overdue.',
    edits: [['isBehindItsOwn', `kind === 'held' || kind === 'overlap'`, `kind === 'held'`]],
    suites: [overdue],
  },
  {
    id: 'nobody-to-tell-goes-unsaid',
    hazard: 'No worker takes the queue of notices, and nobody hears of that either.',
    edits: [['unsendable', '!canExecute(need, inspection.canIn(noticesQueue))', '!canExecute(need, inspection.can)']],
    suites: [doctor],
  },
  {
    id: 'backfill-does-the-due',
    hazard: 'An instant that is due is made up beside the run that the next look makes of it.',
    edits: [['outside', `return at >= undecidedFrom(schedule) ? 'due' : null`, 'return null']],
    suites: [backfill],
  },
  {
    id: 'backfill-repeats-the-forgotten',
    hazard: 'Whoever makes up for a year has all done again that ran before the ledger begins.',
    edits: [
      [
        'forgottenOf',
        'const old = unknown.filter((at) => at <= keptFrom)',
        'const old = unknown.filter((at) => at < 0 && at <= keptFrom)',
      ],
    ],
    suites: [backfill],
  },
  {
    id: 'backfill-goes-all-at-once',
    hazard: 'The runs of a schedule that may not overlap are made up beside each other.',
    edits: [['backfill-schedule.ts make', 'if (isSerial) behind = row.id', 'if (isSerial) behind = null']],
    suites: [backfill],
  },
  {
    id: 'run-by-hand-told-as-failure',
    hazard: 'A failed run by hand raises the failure notification of its schedule.',
    edits: [['notifyEnds', "row.source === 'run-now' ||", "row.source === '' ||"]],
    suites: ['test/store/schedule-reset.test.ts'],
  },
  {
    id: 'urgent-notice-waits-for-the-morning',
    hazard: 'A notification that is marked urgent is held back by quiet hours.',
    edits: [['isUrgent', 'stored.urgent === true', 'stored.urgent === null']],
    suites: ['test/parts/notices/quiet.test.ts'],
  },
]
