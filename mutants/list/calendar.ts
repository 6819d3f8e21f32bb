import type { Mutant } from '../mutant.ts'

/** The days on which the clocks change. */
export const calendar: readonly Mutant[] = [
  {
    id: 'gap-swallows-fixed-times',
    hazard: 'A daily job is left out on the day on which its hour does not exist.',
    edits: [['nextFiring', 'if (isInGap && isFixed) return segment.startMs', '']],
    suites: ['test/core/cron/cron.test.ts'],
  },
  {
    id: 'gap-swallows-fixed-times-backwards',
    hazard: 'Looking back, the occurrence of an hour that does not exist was never there.',
    edits: [
      [
        'previousFiring',
        'if (isFixed && shiftMs > 0 && local >= startMs + segment.offsetMs - shiftMs) return startMs',
        '',
      ],
    ],
    suites: ['test/core/cron/cron.test.ts', 'test/core/cron/law9.test.ts'],
  },
  {
    id: 'overlap-doubles-fixed-times',
    hazard: 'A daily job runs twice on the day on which its hour comes twice.',
    edits: [
      ['nextFiring', 'if (isInGap || (segment.shiftMs < 0 && !isFixed))', 'if (isInGap || segment.shiftMs < 0)'],
      [
        'nextFiring',
        'isFixed ? Math.max(afterSecondMs + 1_000, segment.freshFromMs) : afterSecondMs + 1_000',
        'afterSecondMs + 1_000',
      ],
    ],
    suites: ['test/core/cron/cron.test.ts'],
  },
  {
    id: 'overlap-drops-wildcards',
    hazard: 'A job that runs every few minutes pauses for the hour that comes twice.',
    edits: [['nextFiring', 'if (isInGap || (segment.shiftMs < 0 && !isFixed))', 'if (isInGap)']],
    suites: ['test/core/cron/cron.test.ts'],
  },
  {
    id: 'every-hour-is-fixed',
    hazard: 'A job that runs every few minutes is treated like a daily one when the clocks change.',
    edits: [['calendar.ts compile', 'isFixed: !parsed.isHourWildcard', 'isFixed: true']],
    suites: ['test/core/cron/cron.test.ts'],
  },
  {
    id: 'next-includes-now',
    hazard: 'A cron that is asked at the instant of a firing names that instant again.',
    edits: [['nextFiring', ': afterSecondMs + 1_000\n', ': afterSecondMs\n']],
    suites: ['test/core/cron/cron.test.ts'],
  },
]
