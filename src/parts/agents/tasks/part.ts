import type { Part } from '../../../part.ts'
import { missedCheck } from '../missed/missed-check.ts'
import { missedOperations } from '../missed/missed-verbs.ts'
import { taskTables } from './0028-tasks.ts'
import { toldTasks } from './0035-told-tasks.ts'
import { taskWritten } from './put-task.ts'
import { tasksPolicy, tasksQueue } from './task-input.ts'
import { sweepTasks } from './task-rows.ts'
import { taskOperations } from './task-verbs.ts'
import { tasksSection } from './tasks-section.ts'
import { tellDuty } from './tell-tasks.ts'

/** Tasks: prompts for agents with a timing, and the question about missed prompts. */
export const tasks = {
  name: 'tasks',
  migrations: [taskTables, toldTasks],
  queues: { [tasksQueue]: tasksPolicy },
  written: taskWritten,
  duties: [tellDuty],
  sweeps: [sweepTasks],
  nouns: {
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
      resources: [
        {
          operation: missedOperations.list,
          name: 'missed',
          title: 'Missed prompts',
          description: 'One question about all prompts that came due while no worker ran.',
        },
      ],
      otherWords: { 'missed ls': 'list', 'missed delete': 'drop', 'missed rm': 'drop' },
    },
  },
  checks: [missedCheck],
  config: [tasksSection],
  up: { options: [], load: async () => (await import('./watch-tasks.ts')).watchTasks },
} as const satisfies Part
