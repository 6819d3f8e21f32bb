// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const tasks = 'test/parts/agents/tasks/tasks.test.ts'
const missed = 'test/parts/agents/tasks/missed.test.ts'
const file = 'test/parts/agents/tasks/file.test.ts'

/** Tasks and missed prompts. */
export const taskMutants: readonly Mutant[] = [
  {
    id: 'missed-prompt-is-pruned',
    hazard: 'A missed prompt is thrown away before a person has decided about it.',
    edits: [['sweep-parked.ts findParked', " and coalesce(reason, '') <> '${missedReason}'", '']],
    suites: [missed],
  },
  {
    id: 'missed-prompt-is-decided-twice',
    hazard: 'A missed prompt that one person has started is dropped by another at the same time.',
    edits: [['decideMissed', 'if (place !== undefined) yield* lockScheduleOf(place)', '']],
    suites: [missed],
  },
  {
    id: 'missed-one-shot-fires',
    hazard: 'A prompt that was missed starts hours later, though no person was asked.',
    edits: [['missed.ts judge', `&& schedule.asksWhenMissed === true`, `&& schedule.asksWhenMissed === undefined`]],
    suites: [missed],
  },
  {
    id: 'durable-off-fires',
    hazard: 'Durable tasks are off, and fire all the same.',
    edits: [['fireDue', 'settings?.values.durable === false', 'settings?.values.durable === null']],
    suites: [tasks],
  },
  {
    id: 'project-has-any-number-of-tasks',
    hazard: 'Agents fill a project with tasks: two callers at once pass its limit.',
    edits: [['createTask', 'yield* lockManaged(context)\n', '']],
    suites: [tasks],
  },
  {
    id: 'agent-makes-tasks-for-ever',
    hazard: 'A task that an agent made never ends.',
    edits: [
      [
        'expiryOf',
        'Math.min(wantedAt ?? Number.POSITIVE_INFINITY, now + agentExpiryMs)',
        'wantedAt ?? now + agentExpiryMs',
      ],
    ],
    suites: [tasks, 'test/core/agent/task.test.ts'],
  },
  {
    id: 'agent-changes-the-prompt-of-a-person',
    hazard: 'An agent puts its own words into the prompt of a person.',
    edits: [['refuseUse', `task?.by === 'person'`, `task?.by === 'agent'`]],
    suites: [tasks],
  },
  {
    id: 'tasks-file-is-a-link',
    hazard: 'A link in the folder of the store brings in the prompts of another file.',
    edits: [['open-to-read.ts isOwn', `=== '.belfry'`, `=== ''`]],
    suites: [file],
  },
]
