import { z } from 'zod'
import type { TaskStatus } from '../../../core/agent/task-status.ts'
import { taskStatuses } from '../../../core/agent/task-status.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { flag, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { taskOf } from '../tasks/task-answer.ts'
import type { TaskView } from '../tasks/task-rows.ts'

/** A task as agents read it, in few words. */
export interface PlannedTask {
  readonly id: string
  readonly timing: string
  readonly zone?: string
  readonly status: TaskStatus
  readonly nextAt: number | null
  readonly nextDueAt: number | null
  readonly lastStartedAt: number | null
  readonly agent: string
  readonly prompt?: string
  readonly durable: boolean
  readonly expiresAt: number | null
  readonly parent?: string
}

export const plannedSchema = noted(
  outputOf<PlannedTask>()(
    z
      .strictObject({
        id: text('The id of the task: eight hex digits.'),
        timing: text('When it runs, in words.'),
        zone: text('The zone of its cron.').exactOptional(),
        status: z.enum(taskStatuses).describe('How it stands.'),
        nextAt: instantOutput('The next nominal instant, if there is one.').nullable(),
        nextDueAt: instantOutput('When that is due: nominal instant plus spread.').nullable(),
        lastStartedAt: instantOutput('When an attempt of it last started.').nullable(),
        agent: text('The profile of its agent.'),
        prompt: text('What the agent is to do.').exactOptional(),
        durable: flag('Whether it is kept in the store.'),
        expiresAt: instantOutput('When it ends; null: it does not expire.').nullable(),
        parent: text('The schedule or run in which an agent planned it.').exactOptional(),
      })
      .describe('A task as agents read it.'),
  ),
  { id: 'PlannedTask' },
)

export function plannedTaskOf(view: TaskView): PlannedTask {
  const { id, timing, zone, status, nextAt, nextDueAt, agent, prompt, expiresAt, durable } = taskOf(view)
  const { lastStartedAt, spec } = view
  const optional = onlyGiven({ zone, prompt, parent: spec.task?.parent })
  return { id, timing, status, nextAt, nextDueAt, lastStartedAt, agent, durable, expiresAt, ...optional }
}
