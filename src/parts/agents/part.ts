import type { Part } from '../../part.ts'
import { agentTables } from './0025-agents.ts'
import { agentOperations } from './agent-verbs.ts'
import { agentField, attemptFacts } from './attempt-facts.ts'
import { removeAttempts } from './attempt-rows.ts'
import { agentKind } from './kind.ts'
import { missedOperations } from './missed/missed-verbs.ts'
import { agentsSection } from './profiles-section.ts'
import { taskTables } from './tasks/0028-tasks.ts'
import { refuseDurable } from './tasks/put-task.ts'
import { tasksPolicy, tasksQueue } from './tasks/task-input.ts'
import { sweepTasks } from './tasks/task-rows.ts'
import { taskOperations } from './tasks/task-verbs.ts'
import { tasksSection } from './tasks/tasks-section.ts'

/** Agents: prompts that runs hand to programs such as Claude Code or Codex, and what the programs report. */
export const agents = {
  name: 'agents',
  migrations: [agentTables, taskTables],
  queues: { [tasksQueue]: tasksPolicy },
  written: refuseDurable,
  sweeps: [sweepTasks],
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
    task: {
      says: 'Tasks: prompts for agents, at an instant or again and again.',
      plural: 'tasks',
      operations: taskOperations,
      otherWords: {
        tasks: 'task list',
        'task ls': 'list',
        'task get': 'show',
        'task describe': 'show',
        'task add': 'create',
        'task update': 'edit',
        'task rm': 'delete',
        'task remove': 'delete',
      },
    },
    missed: {
      says: 'Prompts that came due while no worker ran, and wait for a decision.',
      plural: 'missed',
      operations: missedOperations,
      otherWords: { 'missed ls': 'list', 'missed delete': 'drop', 'missed rm': 'drop' },
    },
  },
  kinds: [agentKind],
  config: [agentsSection, tasksSection],
  up: { options: [], load: async () => (await import('./tasks/watch-tasks.ts')).watchTasks },
  fields: { attempt: { agent: agentField } },
  attemptFacts,
} as const satisfies Part
