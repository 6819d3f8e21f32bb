import type { Mutant } from '../mutant.ts'

const bounds = 'test/core/schedule/hint-bounds.test.ts'
const ranks = { file: 'test/store/schedule-ranks.test.ts', only: 'memory' }
const vectors = 'test/core/schedule/hint-window.test.ts'

/** What the authors of hints and pauses may do: each bound, each rank. */
export const hintBounds: readonly Mutant[] = [
  {
    id: 'hint-outlives-a-minute-less',
    hazard: 'A hint lives for less than a minute.',
    edits: [['hintRefusal', 'if (ttlMs < ttlMsMin)', 'if (ttlMs < 0)']],
    suites: [bounds],
  },
  {
    id: 'hint-of-a-model-outlives-a-day',
    hazard: 'A hint of a planner lives as long as one of a person.',
    edits: [['hintRefusal', 'isPerson(by) ? ttlMsMax : steeredTtlMsMax', 'isPerson(by) ? ttlMsMax : ttlMsMax']],
    suites: [bounds],
  },
  {
    id: 'hint-of-a-person-never-ends',
    hazard: 'A hint of a person lives for longer than 30 days.',
    edits: [['hintRefusal', 'if (ttlMs > mostMs)', 'if (!isPerson(by) && ttlMs > mostMs)']],
    suites: [bounds],
  },
  {
    id: 'interval-hint-on-an-at',
    hazard: 'A schedule that runs once is given an interval.',
    edits: [
      [
        'hintRefusal',
        "wanted.kind === 'interval' && schedule.timing.at !== undefined",
        "wanted.kind === 'interval' && now < 0",
      ],
    ],
    suites: [bounds],
  },
  {
    id: 'model-hints-below-ten-seconds',
    hazard: 'A planner makes a schedule run every second.',
    edits: [['intervalBounds', 'Math.max(minMs, steeredEveryMsMin)', 'Math.max(minMs, 1)']],
    suites: [bounds],
  },
  {
    id: 'model-hints-below-min',
    hazard: 'A planner makes a schedule run more often than its min allows.',
    edits: [
      ['intervalBounds', 'Math.min(Math.max(minMs, steeredEveryMsMin), most)', 'Math.min(steeredEveryMsMin, most)'],
    ],
    suites: [bounds],
  },
  {
    id: 'model-hints-beyond-max',
    hazard: 'A planner slows a schedule down beyond its max.',
    edits: [['intervalBounds', 'const most = maxMs ?? ', 'const most = ']],
    suites: [bounds],
  },
  {
    id: 'model-hints-beyond-ten-periods',
    hazard: 'A planner slows a schedule without a max down to any pace.',
    edits: [['intervalBounds', 'steeredPeriodsMax * period', '1_000 * period']],
    suites: [bounds],
  },
  {
    id: 'model-hints-beyond-a-day',
    hazard: 'A planner slows a schedule down to once in several days.',
    edits: [
      ['intervalBounds', 'Math.min(steeredPeriodsMax * period, steeredEveryMsMax)', 'steeredPeriodsMax * period'],
    ],
    suites: [bounds],
  },
  {
    id: 'model-changes-without-end',
    hazard: 'A planner changes a schedule as often as it likes.',
    edits: [
      ['rateRefusal', 'const isTooMany = changes.length >= changesMax', 'const isTooMany = changes.length > 1_000'],
    ],
    suites: [bounds],
  },
  {
    id: 'model-one-shots-without-end',
    hazard: 'A planner starts runs by one one-shot after the other.',
    edits: [['rateRefusal', 'oneshots.length < oneshotsMax', 'oneshots.length < 1_000']],
    suites: [bounds],
  },
  {
    id: 'model-pauses-for-days',
    hazard: 'A planner pauses a schedule for longer than a day.',
    edits: [['pauseEndMax', 'const latest = now + steeredPauseMsMax', 'const latest = now + 30 * steeredPauseMsMax']],
    suites: [bounds],
  },
  {
    id: 'model-pauses-beyond-max',
    hazard: 'A pause of a planner keeps a schedule from running within its max.',
    edits: [['pauseEndMax', 'Math.min(latest, anchorAt + maxMs)', 'latest']],
    suites: [bounds],
  },
  {
    id: 'model-pauses-again-and-again',
    hazard: 'A planner keeps a schedule paused by one pause after the other.',
    edits: [['pauseRefusal', 'state.lastEndAt <= pausedAt', 'state.lastEndAt < 0']],
    suites: [bounds],
  },
  {
    id: 'window-forgotten',
    hazard: 'A planner makes a schedule run at night, outside its window.',
    edits: [
      [
        'wishes.ts windowed',
        'schedule.window !== undefined && !isPerson(by)',
        'schedule.window !== undefined && by === undefined',
      ],
    ],
    suites: [vectors],
  },
  {
    id: 'window-silences-the-baseline',
    hazard: 'A hint that waits for its window keeps the schedule from running by its own timing.',
    edits: [['waitsForWindow', 'return baseAt !== null && baseAt < at', 'return baseAt !== null && baseAt < 0']],
    suites: [vectors],
  },
  {
    id: 'lowest-rank-rules',
    hazard: 'A hint of a planner overrides one of a person.',
    edits: [['schedule/hints.ts inForce', 'rankOf(a.by) - rankOf(b.by)', 'rankOf(b.by) - rankOf(a.by)']],
    suites: [ranks],
  },
  {
    id: 'planner-clears-a-persons-hint',
    hazard: 'A planner clears the hint of a person.',
    edits: [['clearHintsOf', 'rankOf(by) >= rankOf(author.kind)', 'rankOf(by) >= 0']],
    suites: [ranks],
  },
  {
    id: 'short-pause-ends-a-long-one',
    hazard: 'A pause of a planner ends a longer one of a person.',
    edits: [['withPauseOf', 'rankOf(by) !== rankOf(pause.by)', 'rankOf(by) < 0']],
    suites: [ranks],
  },
  {
    id: 'planner-resumes-what-a-person-paused',
    hazard: 'A planner ends the pause of a person.',
    edits: [['endPausesOf', 'const isEnder = isPerson(author.kind)', 'const isEnder = author.kind !== null']],
    suites: [ranks],
  },
  {
    id: 'person-does-not-supersede',
    hazard: 'What a planner decided before a person stepped in is carried out all the same.',
    edits: [['withEpoch', 'hintEpoch: row.hintEpoch + 1', 'hintEpoch: row.hintEpoch']],
    suites: [ranks],
  },
  {
    id: 'outranked-hint-forgotten',
    hazard: 'A hint that another outranks is lost instead of counting again.',
    edits: [
      [
        'schedule/hints.ts inForce',
        'outranked.push(...own.filter((other) => other !== first))',
        'outranked.push(...own.filter(() => false))',
      ],
    ],
    suites: [ranks],
  },
  {
    id: 'hint-starts-below-min',
    hazard: 'A hint of any author makes a schedule run more often than its min allows.',
    edits: [
      ['governor.ts bounded', 'if (at < winner.raisedAt)', "if (at < winner.raisedAt && winner.by === 'baseline')"],
    ],
    suites: [bounds],
  },
  {
    id: 'hint-waits-beyond-max',
    hazard: 'A hint of any author keeps a schedule from running within its max.',
    edits: [['governor.ts bounded', 'maxMs === undefined ?', "maxMs === undefined || winner.by !== 'baseline' ?"]],
    suites: [bounds],
  },
  {
    id: 'window-binds-persons',
    hazard: 'What a person hints at night waits until the window of planners opens.',
    edits: [['wishes.ts windowed', 'schedule.window !== undefined && !isPerson(by)', 'schedule.window !== undefined']],
    suites: [vectors],
  },
  {
    id: 'window-never-opens',
    hazard: 'A window that never opens is taken, and no planner is ever heard.',
    edits: [
      ['open-minutes.ts windowProblems', 'if (open || changesAt !== null)', 'if (open || changesAt !== undefined)'],
    ],
    suites: ['test/parts/groups/groups.test.ts'],
  },
  {
    id: 'clamp-is-not-told',
    hazard: 'A planner takes what it asked for as done, although a bound moved it.',
    edits: [
      ['writeHint', "return { answer: 'written', row, clamped,", "return { answer: 'written', row, clamped: null,"],
    ],
    suites: [{ file: 'test/store/adaptive.test.ts', only: 'memory' }],
  },
  {
    id: 'agents-have-a-rate-of-their-own',
    hazard: 'An agent changes a schedule as often as it likes.',
    edits: [['isRated', "rankOf(by) === rankOf('planner')", "by === 'planner'"]],
    suites: [bounds],
  },
  {
    id: 'max-below-the-limit-of-the-namespace',
    hazard: 'A schedule with a short max runs more often than its namespace allows.',
    edits: [['refuseTooOften', 'maxMs < everyMinMs', 'maxMs < 0']],
    suites: [{ file: 'test/store/adaptive.test.ts', only: 'memory' }],
  },
]
