import type { Part } from '../../part.ts'
import { agentTables } from './0025-agents.ts'
import { agentOperations } from './agent-verbs.ts'
import { agentField, attemptFacts } from './attempt-facts.ts'
import { removeAttempts } from './attempt-rows.ts'
import { agentKind } from './kind.ts'
import { agentsSection } from './profiles-section.ts'

/** Agents: prompts that runs hand to programs such as Claude Code or Codex, and what the programs report. */
export const agents = {
  name: 'agents',
  migrations: [agentTables],
  ofRuns: [removeAttempts],
  nouns: {
    agent: {
      says: 'Agents: programs that take prompts, and how they are called and read.',
      plural: 'agents',
      operations: agentOperations,
      otherWords: {
        agents: 'agent list',
        'agent ls': 'list',
        'agent get': 'show',
        'agent describe': 'show',
        'agent test': 'check',
        'agent doctor': 'check',
      },
    },
  },
  kinds: [agentKind],
  config: [agentsSection],
  fields: { attempt: { agent: agentField } },
  attemptFacts,
} as const satisfies Part
