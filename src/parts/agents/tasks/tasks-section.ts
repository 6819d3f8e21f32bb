import { basename, dirname } from 'node:path'
import { formatId } from '../../../core/id.ts'
import { isRecord } from '../../../core/json/record.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { ConfigSection } from '../../../operations/config-section.ts'
import { withAdded } from '../../../operations/fields/added-fields.ts'
import { newName } from '../../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { read } from '../../../operations/input/read-input.ts'
import { definitionOf } from '../../../operations/schedule/schedule-answer.ts'
import { schedulesNamed } from '../../../store/reads/find-schedule.ts'
import { lockNamedSchedule } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, run } from '../../../store/statement.ts'
import { deleteTask } from './delete-task.ts'
import { applyTask, type NewTask } from './put-task.ts'
import { taskFrom } from './read-task.ts'
import { agentDefault, taskInFile } from './task-input.ts'

declare module '../../../core/added.ts' {
  interface AddedToConfig {
    readonly tasks: AddedType<readonly { readonly name: string; readonly answer: string }[], Record<string, unknown>>
  }
}

const findKept = both(
  'tasks find kept',
  `select s.name from belfry.task t join belfry.schedule s on s.id = t.schedule_id
    where t.ns = $1 and s.managed_by = $2 and s.deleted_at is null order by s.name`,
)
const manage = both(
  'tasks manage',
  'update belfry.schedule set managed_by = $3 where ns = $1 and name = $2 and deleted_at is null',
)

type TaskEntry = NewTask & { readonly name: string; readonly spec: NewTask['spec'] & { readonly name: string } }

export interface TaskApplied {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly before: ScheduleSpec | null
  readonly after: ScheduleSpec | null
}

/** Tasks in a config file, or in `.belfry/tasks.json`. */
export const tasksSection: ConfigSection<TaskEntry, TaskApplied> = {
  name: 'tasks',
  says: 'Tasks by name, each with the fields of task create, but those that count from now.',
  names: newName,
  locks: 'schedules',
  deletes: true,
  targets: (given) => (isRecord(given) ? [{ agent: given.agent ?? agentDefault }] : []),
  async reader(context, names) {
    const now = await context.store.look(clockNow)
    const known = await context.store.look(schedulesNamed, names)
    const specs = new Map(known.map(({ spec }) => [spec.name, spec]))
    const folder = baseOf(context.folder)
    return (name, given, problems) => {
      const reading = read(withAdded(taskInFile, context.fields), given ?? {}, 'a task')
      const whole = { ...reading, value: { ...reading.value, name } }
      const { task, problems: found } = taskFrom({ ...context, folder }, whole as never, {
        now,
        folder,
        before: specs.get(name),
      })
      problems.push(...found)
      const ids = Array.from({ length: 4 }, () => context.randomHex(4))
      return { ...task, name, ids, spec: { ...task.spec, name } }
    }
  },
  placed: (entries) => Object.fromEntries(entries.map(({ name, spec }) => [`task ${name}`, spec.target])),
  // The worker starts the agent with the prompt, even if the file names no agent.
  starts: (given, where) => {
    const { prompt, promptFile, agent, ...rest } = isRecord(given) ? given : {}
    if (agent !== undefined) return []
    return [{ where, what: `${agentDefault}: ${String(prompt ?? promptFile)}`, with: rest, starts: given }]
  },
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor, adopt }, entry) {
    const { name } = entry
    const { answer, before, after } = yield* applyTask(context, entry, { actor, source, adopt })
    yield* run(manage, context.ns, name, source)
    return { name, answer: answer === 'created' || answer === 'updated' ? answer : 'unchanged', before, after }
  },
  *leave({ context, actor, source }, name) {
    const found = yield* lockNamedSchedule(context, name)
    if (found === null) return null
    const schedule = formatId('schedule', found.id)
    yield* deleteTask(context, { name, schedule }, { cancelLeased: false, actor, source })
    return { name, answer: 'deleted', before: found.spec, after: null }
  },
  written: ({ name, answer, before, after }) => ({
    name,
    answer,
    changes: answer === 'updated' ? fieldChanges(saidOf(before), saidOf(after)) : [],
  }),
}

/** Paths in `.belfry/tasks.json` are relative to the project, not to Belfry's own folder. */
function baseOf(folder: string): string {
  return basename(folder) === '.belfry' ? dirname(folder) : folder
}

function saidOf(spec: ScheduleSpec | null): object {
  return spec === null ? {} : { ...definitionOf(spec), expiresAt: spec.task?.expiresAt }
}
