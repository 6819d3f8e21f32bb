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
]
