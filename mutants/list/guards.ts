import type { Mutant } from '../mutant.ts'

const asked = 'test/parts/admission/guards/asked.test.ts'
const refused = 'test/parts/admission/guards/refused.test.ts'
const finishing = 'test/store/schedule-finish.test.ts'

/** Guards that are not obeyed, and guards that may do more than targets. */
export const guards: readonly Mutant[] = [
  {
    id: 'guard-says-no-and-the-run-starts',
    hazard: 'A guard refuses a run, and the run starts all the same.',
    edits: [['askWhen', "{ skip: 'when' }", '{ go: true }']],
    suites: [asked],
  },
  {
    id: 'guard-that-failed-lets-go',
    hazard: 'A guard that failed is taken for a yes, and what it was to prevent is done.',
    edits: [
      ['isBroken', 'return typeof exitCode', 'return false && typeof exitCode'],
      ['askWhen', "says === 'yes'", "says !== 'no'"],
    ],
    suites: [asked],
  },
  {
    id: 'broken-guard-says-no',
    hazard: 'A guard that cannot tell is taken for a no, and a schedule stands still without a failure.',
    edits: [['isBroken', 'exitCode > 1', 'exitCode > 255']],
    suites: ['test/core/guard.test.ts'],
  },
  {
    id: 'until-says-no-and-the-schedule-ends',
    hazard: 'A schedule ends although its until said no, and its work is never done again.',
    edits: [['askUntil', "says === 'yes' ? until", "says !== 'failed' ? until"]],
    suites: [asked],
  },
  {
    id: 'until-of-yesterday-ends-the-schedule',
    hazard: 'A schedule ends by a guard that it no longer has.',
    edits: [['saidYes', ' && canonicalJson(moved?.before.spec.options?.until) === canonicalJson(asked)', '']],
    suites: [finishing],
  },
  {
    id: 'finished-schedule-goes-on',
    hazard: 'A schedule that has finished fires again.',
    edits: [
      ['next-plan.ts planned', 'if (row.finished !== null) return', 'if (row.finished === row.spec.name) return'],
      ['nextRun', 'if (state.finished !== undefined) {', 'if (state.finished === schedule.timing.cron) {'],
    ],
    suites: [finishing],
  },
  {
    id: 'guard-reads-the-payload',
    hazard: 'A program that an admin wrote as a guard reads a payload that any operator may write.',
    edits: [['executeTarget', '{ ...lease, target, payload }', '{ ...lease, target }']],
    suites: ['test/engine/conclude.test.ts'],
  },
  {
    id: 'guard-of-an-operator-starts-programs',
    hazard: 'An operator starts programs on the workers by a guard.',
    edits: [['guardField', 'isTarget: true, ', '']],
    suites: [refused],
  },
  {
    id: 'operator-edits-a-stored-guard',
    hazard: 'An operator changes a schedule whose guard starts a program.',
    edits: [['schedule-writes.ts commit', ', ...before?.spec.options', '']],
    suites: [refused],
  },
  {
    id: 'stop-while-asked-repeats-the-work',
    hazard: 'A worker that is stopped while a guard is asked after a success does the work again.',
    edits: [
      [
        'withLearned',
        'Object.keys(learned).length === 0 ? end',
        "holding.stopped !== null ? { ...end, outcome: { kind: 'forced-stop' } }",
      ],
    ],
    suites: ['test/engine/conclude.test.ts'],
  },
  {
    id: 'noops-never-pause',
    hazard: 'A schedule that finds nothing to do goes on for ever, whatever its maxNoop, and pays for each run.',
    edits: [['pausedByNoops', 'noopCount < (', 'noopCount < 1_000 + (']],
    suites: [finishing],
  },
  {
    id: 'deferred-for-ever',
    hazard: 'A run that is deferred again and again never fails, and no person hears of it.',
    edits: [['core/run/verdict.ts deferred', 'now >= lastAt', 'now >= lastAt && now < 0']],
    suites: ['test/core/verdict.test.ts'],
  },
]
