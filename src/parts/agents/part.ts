import type { Part } from '../../part.ts'
import { agentTables } from './0025-agents.ts'
import { agentField, attemptFacts } from './attempt-facts.ts'
import { removeAttempts } from './attempt-rows.ts'
import { agentKind } from './kind.ts'
import { agentsSection } from './profiles-section.ts'

/** Agents: prompts that runs hand to programs such as Claude Code or Codex, and what the programs report. */
export const agents = {
  name: 'agents',
  migrations: [agentTables],
  ofRuns: [removeAttempts],
  kinds: [agentKind],
  config: [agentsSection],
  fields: { attempt: { agent: agentField } },
  attemptFacts,
} as const satisfies Part
