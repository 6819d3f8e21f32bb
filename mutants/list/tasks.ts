// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are texts of the sources, placeholders and all.
import type { Mutant } from '../mutant.ts'

const tasks = 'test/parts/agents/tasks/tasks.test.ts'
const missed = 'test/parts/agents/tasks/missed.test.ts'
const file = 'test/parts/agents/tasks/file.test.ts'
const children = 'test/parts/agents/children/children.test.ts'
const held = 'test/parts/agents/children/held.test.ts'
const hostile = 'test/parts/agents/children/hostile.test.ts'

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
    id: 'caller-chooses-what-runs-beside-an-agent',
    hazard: 'A caller that may only operate gives an agent a command, an environment or a folder of its own choice.',
    edits: [['refuseUse', 'if (what !== null) throw', `if (what === '') throw`]],
    suites: ['test/parts/agents/tasks/who-may.test.ts'],
  },
  {
    id: 'tasks-file-is-a-link',
    hazard: 'A link in the folder of the store brings in the prompts of another file.',
    edits: [['open-to-read.ts isOwn', `=== '.belfry'`, `=== ''`]],
    suites: [file],
  },
  {
    id: 'agent-plans-any-number-of-tasks',
    hazard: 'An agent plans as many tasks as it likes, and each of them costs money.',
    edits: [['childRefusal', 'if (live >= childrenMax) {', 'if (live > 1e9) {']],
    suites: ['test/core/agent/child-quota.test.ts', children],
  },
  {
    id: 'children-race-past-the-quota',
    hazard: 'The tasks that an agent planned in other runs of its schedule do not count.',
    edits: [['countLive', 't.parent_id = $2 or', 't.parent_id = $2 and t.run_id = $3 or']],
    suites: [children],
  },
  {
    id: 'children-have-children',
    hazard: 'What an agent planned plans more, without end.',
    edits: [['run-token.ts insert', 't.depth from', '0 * t.depth from']],
    suites: [children],
  },
  {
    id: 'run-token-outlives-its-run',
    hazard: 'The token of a run that has ended, or whose worker died, still works.',
    edits: [['findRunToken', 'expiresAt !== null && expiresAt > (yield* clockNow())', '(yield* clockNow()) > 0']],
    suites: [children],
  },
  {
    id: 'run-plans-after-its-end',
    hazard: 'A call that was let in before its run ended plans a task afterwards.',
    edits: [
      [
        'lockedParent',
        'if (lease === undefined || lease.expires_at <= (yield* clockNow())) throw runEnded(run)',
        'if (lease === undefined) return null',
      ],
    ],
    suites: [children],
  },
  {
    id: 'run-token-reaches-every-verb',
    hazard: 'An agent lifts holds, raises budgets and reaches other projects with the token of its run.',
    edits: [['boundCall', 'if (entry.inRun !== true) throw', 'if (entry.inRun === undefined && false) throw']],
    suites: [hostile],
  },
  {
    id: 'run-reads-messages-of-other-projects',
    hazard: 'An agent takes the messages of another project.',
    edits: [
      ['askingInRun', "for (const field of ['session', 'project'] as const) {", 'for (const field of [] as never[]) {'],
    ],
    suites: [children, hostile],
  },
  {
    id: 'run-deletes-tasks-of-others',
    hazard: 'An agent deletes tasks that another planned.',
    edits: [['deleteOwn', '(within !== undefined && !isChild)', '(within !== undefined && isChild === undefined)']],
    suites: [hostile],
  },
  {
    id: 'held-parent-frees-its-children',
    hazard: 'A person holds a schedule, and the tasks that its agent planned go on and cost money.',
    edits: [
      [
        'steerChildren',
        "if (how === 'held') yield* holdBeside(context, child.name, hold)",
        "if (how === 'held') continue",
      ],
    ],
    suites: [held],
  },
  {
    id: 'child-of-a-held-parent-is-free',
    hazard: 'An agent whose schedule is held plans a task, and that one starts.',
    edits: [['makeTask', 'yield* holdWithParent(context, name, child.parent)', '']],
    suites: [held],
  },
  {
    id: 'loop-replaces-the-hint-of-its-owner',
    hazard: 'An agent that paces itself replaces the hint that a person gave its loop.',
    edits: [['planTurn', "kind: 'rule', name: author", "kind: 'person', name: author"]],
    suites: [children],
  },
  {
    id: 'leftovers-have-no-time',
    hazard: 'An agent of a dead worker is killed while it writes down its session.',
    edits: [['leftovers.ts end', 'if (isWhole && leftMs > 0) {', 'if (isWhole && leftMs > 1e9) {']],
    suites: ['test/targets/leftovers.test.ts'],
  },
]
