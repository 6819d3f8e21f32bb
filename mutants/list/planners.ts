import type { Mutant } from '../mutant.ts'

/** What a planner, a rule or an answer may not bring about. */
export const planners: readonly Mutant[] = [
  {
    id: 'superseded-look-acts',
    hazard: 'A planner undoes what a person did while it was looking.',
    edits: [
      [
        'actOnSchedule',
        'row.version !== action.version || row.hintEpoch !== action.epoch',
        'row.version !== action.version',
      ],
    ],
    suites: ['test/parts/planner/hostile.test.ts'],
  },
  {
    id: 'suggestion-is-done',
    hazard: 'Under suggest a planner acts without asking.',
    edits: [['actOnSchedule', "if (autonomy !== 'act') return", "if (autonomy === 'off') return"]],
    suites: ['test/parts/planner/looks.test.ts'],
  },
  {
    id: 'decided-proposal-is-done-again',
    hazard: 'A proposal that is decided, expired or superseded can still be approved.',
    edits: [['decideProposal', "if (proposal.state !== 'open') return", "if (proposal.state === 'replaced') return"]],
    suites: ['test/parts/planner/looks.test.ts'],
  },
  {
    id: 'answer-without-fence',
    hazard: 'What an endpoint answers reaches a model unmarked.',
    edits: [['fenced', 'responseBody: fence(responseBody)', 'responseBody']],
    suites: ['test/parts/planner/hostile.test.ts'],
  },
  {
    id: 'rule-sees-other-siblings',
    hazard: 'A rule on a sibling is judged by the answers of every schedule.',
    edits: [['judgeRules', '(sibling ?? null) === answer.sibling', '(sibling ?? null) !== undefined']],
    suites: ['test/core/rules.test.ts'],
  },
  {
    id: 'pause-is-never-reviewed',
    hazard: 'A planner that has paused a schedule by mistake never looks at it before the pause is over.',
    edits: [['hasNews', 'reviewAt !== null && reviewAt <= now', 'reviewAt !== null && reviewAt < 0']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'pause-is-reviewed-without-end',
    hazard: 'A planner looks at what it has paused again and again, and pays for each look.',
    edits: [['hasNews', 'reviewAt <= now && look.lookedAt < reviewAt', 'reviewAt <= now']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'failures-do-not-hurry-a-look',
    hazard: 'A planner that wants to look again in hours does not hear that its schedule fails.',
    edits: [['lookAfterFailures', '> moved.before.failureCount', '> 1_000 + moved.before.failureCount']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'looks-at-nothing-new',
    hazard: 'A model is asked, and paid, although nothing has happened since it looked.',
    edits: [['hasNews', 'row.lastEndAt > look.lookedAt ||', 'row.lastEndAt > 0 ||']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'failed-look-is-final',
    hazard: 'After a model was away for a moment nothing looks until the next run has ended.',
    edits: [['hasNews', 'look.fails > 0', 'look.fails > 1_000']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'failed-looks-without-rest',
    hazard: 'A model that fails is asked again every five minutes.',
    edits: [['endLook', 'lookMsMin * 2 ** (fails - 1)', 'lookMsMin']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'two-looks-at-once',
    hazard: 'Two planners look at one schedule at the same moment.',
    edits: [
      ['enqueueDueLooks', 'lookAt: now + lostMs', 'lookAt: look.lookAt'],
      ['enqueueLook', 'dedupeKey,', 'dedupeKey: undefined,'],
    ],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'proposal-never-expires',
    hazard: 'A proposal is approved hours after the planner saw what it was made for.',
    edits: [['proposal-row.ts stateOf', '(row.expires_at as number) <= now', '(row.expires_at as number) < 0']],
    suites: [{ file: 'test/parts/planner/proposals.test.ts', only: 'memory' }],
  },
  {
    id: 'passed-run-is-approved',
    hazard: 'A run that was proposed for an instant that has passed starts when a person approves it.',
    edits: [
      ['decideProposal', "effect.kind === 'oneshot' && effect.at < now", "effect.kind === 'oneshot' && effect.at < 0"],
    ],
    suites: [{ file: 'test/parts/planner/proposals.test.ts', only: 'memory' }],
  },
  {
    id: 'agent-decides-a-proposal',
    hazard: 'An agent approves what a model proposed.',
    edits: [['proposal-verbs.ts deciding', 'persons: true,', 'persons: undefined,']],
    suites: ['test/parts/planner/proposals.test.ts'],
  },
  {
    id: 'killed-look-forgets-its-calls',
    hazard: 'A worker that is killed leaves no trace of what its planner has changed.',
    edits: [
      ['converse', 'await answered(session, calls) })\n      await keeps(usage)', 'await answered(session, calls) })'],
    ],
    suites: ['test/parts/planner/converse.test.ts'],
  },
  {
    id: 'look-without-usage-never-ends',
    hazard: 'A provider that reports no tokens is asked without bound.',
    edits: [['converse.ts tokensOf', 'Math.ceil(JSON.stringify([sent, text, calls]).length / 4)', '0']],
    suites: ['test/parts/planner/converse.test.ts'],
  },
  {
    id: 'idle-schedules-crowd-looks',
    hazard: 'Schedules without news keep a schedule that fails from being looked at.',
    edits: [['findDueLooks', 'round === roundsMax', 'round > 0']],
    suites: [{ file: 'test/parts/planner/bounded-looks.test.ts', only: 'memory' }],
  },
  {
    id: 'rules-forget-in-a-full-memory',
    hazard: 'A schedule with many rules forgets what they saw, and none of them ever acts.',
    edits: [['core/rules.ts keyOf', '.slice(0, keyLength)', '']],
    suites: ['test/core/rules.test.ts'],
  },
  {
    id: 'proposals-without-end',
    hazard: 'A planner that only proposes notifies a person at every call.',
    edits: [['schedule/hint-bounds.ts proposed', 'proposals.length < changesMax', 'proposals.length < 1_000']],
    suites: [{ file: 'test/parts/planner/proposals.test.ts', only: 'memory' }],
  },
  {
    id: 'failure-during-a-look-is-lost',
    hazard: 'A run that fails while a model is asked is seen by no look until another run ends.',
    edits: [['endLook', 'lookedAt: begunAt', 'lookedAt: now']],
    suites: [{ file: 'test/parts/planner/adaptive-looks.test.ts', only: 'memory' }],
  },
]
