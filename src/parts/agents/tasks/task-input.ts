import { z } from 'zod'
import { defaultPolicy, type Policy } from '../../../core/queue/policy.ts'
import { openChange, openInput } from '../../../operations/fields/added-fields.ts'
import { newName, reason } from '../../../operations/fields/basic-fields.ts'
import { patched } from '../../../operations/fields/patch.ts'
import { durationFields } from '../../../operations/input/duration-input.ts'
import { instant } from '../../../operations/input/instant.ts'
import { scheduleShape } from '../../../operations/schedule/schedule-input.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import { valueForm } from '../../../targets/secret-schema.ts'

export const agentDefault = 'claude'
export const tasksQueue = 'agents'
/** Agents use many resources, and share the limits of their providers. */
export const tasksPolicy: Policy = { ...defaultPolicy, maxConcurrent: 3 }

const { target: _, payload: __, queue, ...ofSchedule } = scheduleShape

/** How the agent is called. These fields become the target of the schedule. */
const agentShape = {
  prompt: z.string().describe('What the agent is to do, of at most 64 KB.').optional(),
  promptFile: z.string().min(1).describe('A file with the prompt, read when a run starts.').optional(),
  agent: z.string().min(1).describe(`The agent, by its profile. Default: ${agentDefault}.`).optional(),
  model: z.string().min(1).describe('The model it uses. Default: its own choice.').optional(),
  context: z
    .enum(['fresh', 'last', 'session'])
    .describe('What it knows of the run before: nothing, its answer, or its whole session. Default: fresh.')
    .optional(),
  resume: z
    .enum(['interrupted', 'never'])
    .describe('Whether an attempt continues an interrupted session. Default: interrupted, where the profile can.')
    .optional(),
  workspace: z
    .enum(['shared', 'worktree'])
    .describe('Whether it works in cwd itself, or in a git worktree of its own. Default: that of the profile.')
    .optional(),
  ref: z.string().min(1).describe('The commit that the worktree begins with. Default: HEAD.').optional(),
  keep: z.enum(['changed', 'always', 'never']).describe('When its worktree stays. Default: changed.').optional(),
  setup: z
    .union([z.string().min(1), z.array(z.string()).min(1).readonly()])
    .describe('A command that prepares the workspace.')
    .optional(),
  terminal: z
    .enum(['none', 'tmux'])
    .describe('Whether it runs in a terminal. Default: that of the profile.')
    .optional(),
  cwd: z.string().min(1).describe('The folder it runs in. Default: that of the profile, or this one.').optional(),
  env: noted(z.record(z.string(), valueForm), { expected: 'names with values, such as {"API_KEY":{"secret":"KEY"}}' })
    .describe('Environment variables; secrets by their names.')
    .optional(),
}
export const agentFields = Object.keys(agentShape)

/** The spread and the expiry of a task. */
const mannerShape = {
  exact: z.boolean().describe('Whether it starts at its nominal instant, without spread. Default: false.').optional(),
  expiresAt: instant.describe('Its first occurrence at or after this instant is the last.').optional(),
  permanent: z
    .boolean()
    .describe('Whether it never expires; only a person may say so. Default: false for tasks of agents.')
    .optional(),
}

const expiryFields = durationFields(
  'expires',
  'How long from now it lasts, in place of expiresAt. Default: 7d for tasks of agents.',
)

const taskShape = {
  ...agentShape,
  ...ofSchedule,
  queue: queue.unwrap().describe(`The queue that the work goes through. Default: ${tasksQueue}.`).optional(),
  ...mannerShape,
}
/** Fields that are measured from the moment of the call. */
const fromNow = { ...durationFields('in', 'How long from now it runs once, in place of at.'), ...expiryFields }

const durable = z
  .boolean()
  .describe(
    'Whether the store keeps it; if not, it lives as long as the session that this process serves, and the session does it. Default: true.',
  )
  .optional()

const named = newName.describe('Its name. Default: task- and its id.').optional()

export const taskInput = openInput('schedule', {
  name: named,
  ...taskShape,
  ...fromNow,
  durable,
  reason: reason.optional(),
})
export type TaskInput = z.input<typeof taskInput>

/** A task in a file. A file is applied again and again, so no field is measured from the moment of the call. */
export const taskInFile = openInput('schedule', taskShape)

/** A loop begins at once and has an interval; its other fields are those of a task. */
export const loopInput = openInput('schedule', {
  prompt: z.string().describe('What the agent is to do, of at most 64 KB.'),
  every: ofSchedule.every,
  everyMs: ofSchedule.everyMs,
  maxRuns: ofSchedule.maxRuns,
  name: named,
  agent: agentShape.agent,
  model: agentShape.model,
  context: agentShape.context,
  cwd: agentShape.cwd,
  expect: ofSchedule.expect,
  maxNoop: ofSchedule.maxNoop,
  ...mannerShape,
  ...expiryFields,
  durable,
  reason: reason.optional(),
})

export const taskId = noted(z.string().min(1).max(200), {
  expected: 'the id of a task, such as 3f9c01ab, or its name',
}).describe('The id of the task, or its name.')

export const taskChange = openChange('schedule', {
  id: taskId,
  ...patched(taskShape),
  ...patched(fromNow),
  ifVersion: z.int().min(1).describe('Write only over this version.').optional(),
  reason: reason.optional(),
})
