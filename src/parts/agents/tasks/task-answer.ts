import { z } from 'zod'
import type { TaskFacts } from '../../../core/agent/task.ts'
import { type TaskStatus, taskStatus, taskStatuses } from '../../../core/agent/task-status.ts'
import { timingWords } from '../../../core/agent/timing-words.ts'
import { type CallerKind, callerKinds } from '../../../core/caller.ts'
import { defaultQueue } from '../../../core/queue/policy.ts'
import type { Timing } from '../../../core/timing/timing.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { upcomingRun } from '../../../operations/schedule/schedule-schema.ts'
import type { UpcomingRun } from '../../../operations/schedule/upcoming.ts'
import { count, flag, instantOutput, outputOf, text } from '../../../operations/schema/output-schema.ts'
import { noted } from '../../../operations/schema/schema-note.ts'
import type { AgentTarget } from '../agent-target.ts'
import type { InboxTarget } from '../inbox/kind.ts'
import type { TaskView } from './task-rows.ts'

/** A task as doors show it. */
export interface Task {
  readonly id: string
  readonly name: string
  readonly status: TaskStatus
  readonly agent: string
  readonly durable: boolean
  readonly session?: string
  readonly prompt?: string
  readonly promptFile?: string
  readonly model?: string
  readonly context?: 'fresh' | 'last' | 'session'
  readonly cwd?: string
  readonly timing: string
  readonly zone?: string
  /** The nominal instant, and the instant at which the task is due after its spread. */
  readonly nextAt: number | null
  readonly nextDueAt: number | null
  readonly lastPlannedAt: number | null
  readonly missedRun: string | null
  readonly pausedUntil: number | null
  readonly lastRun: string | null
  readonly lastEnd: string | null
  readonly expiresAt: number | null
  readonly author: string
  readonly by: CallerKind
  readonly project: string
  readonly run?: string
  readonly isExact: boolean
  readonly runsCount: number
  readonly version: number
  readonly schedule: string
  readonly createdAt: number
  readonly managedBy?: string
}

export const taskSchema = noted(
  outputOf<Task>()(
    z
      .strictObject({
        id: text('The id of the task: eight hex digits.'),
        name: text('Its name, which is that of its schedule.'),
        status: z.enum(taskStatuses).describe('How it stands; missed: a person decides about its run.'),
        agent: text('The profile of its agent; session: the session does it.'),
        durable: flag('Whether the store keeps it. A session task ends with its session.'),
        session: text('The session that it belongs to.').exactOptional(),
        prompt: text('What the agent is to do.').exactOptional(),
        promptFile: text('The file with the prompt.').exactOptional(),
        model: text('The model.').exactOptional(),
        context: z.enum(['fresh', 'last', 'session']).describe('What it knows of the run before.').exactOptional(),
        cwd: text('The folder it runs in.').exactOptional(),
        timing: text('When it runs, in words.'),
        zone: text('The zone of its cron.').exactOptional(),
        nextAt: instantOutput('The next nominal instant, if there is one.').nullable(),
        nextDueAt: instantOutput('When that is due: nominal instant plus spread.').nullable(),
        lastPlannedAt: instantOutput('The newest instant that was planned.').nullable(),
        missedRun: text('The run that waits for a decision: missed run, or missed drop.').nullable(),
        pausedUntil: instantOutput(
          'When its pause ends by itself; null: it is not paused, or until it is resumed.',
        ).nullable(),
        lastRun: text('Its newest run.').nullable(),
        lastEnd: text('How that run ended: completed, failed, parked and so on; null: it has not.').nullable(),
        expiresAt: instantOutput(
          'Its first occurrence at or after this instant is the last; null: it does not expire.',
        ).nullable(),
        author: text('Who made it.'),
        by: z.enum(callerKinds).describe('Whether a person or an agent made it.'),
        project: text('The root of the checkout that it belongs to, or its folder.'),
        run: text('The run in which an agent made it.').exactOptional(),
        isExact: flag('Whether it is not spread.'),
        runsCount: count('Occurrences that have become runs; runs by hand are none.'),
        version: count('The version; each change increments it.'),
        schedule: text('The id of its schedule.'),
        createdAt: instantOutput('When it was made.'),
        managedBy: text('The source that manages it: change it there.').exactOptional(),
      })
      .describe('A task: a prompt for an agent, with a timing.'),
  ),
  { id: 'Task' },
)

export function taskOf(view: TaskView): Task {
  const { spec, nextDecision, deletedAt, isLive, missedRun, paused, disabled } = view
  const { agent, inbox, cwd } = spec.target as unknown as Partial<AgentTarget & InboxTarget>
  const { id, author, by, project, run, expiresAt = null } = spec.task as TaskFacts
  const isOver = deletedAt !== null || nextDecision?.source === 'none'
  const {
    profile = 'session',
    prompt = inbox?.prompt,
    promptFile,
    model,
    context,
  }: Partial<AgentTarget['agent']> = agent ?? {}
  const session = spec.task?.session
  return {
    id,
    name: spec.name,
    status: taskStatus({ isLive, isMissed: missedRun !== null, isPaused: (paused ?? disabled) !== null, isOver }),
    agent: profile,
    durable: session === undefined,
    ...onlyGiven({
      session,
      prompt,
      promptFile,
      model,
      context,
      cwd,
      zone: zoneOf(spec.timing),
      run,
      managedBy: view.managedBy,
    }),
    timing: spec.task?.pace === 'self' ? 'at its own pace' : timingWords(spec.timing),
    nextAt: view.nextRunAt,
    nextDueAt: view.nextDueAt,
    lastPlannedAt: view.lastPlannedAt,
    missedRun,
    pausedUntil: disabled === null ? (paused?.until ?? null) : null,
    lastRun: view.lastRun?.id ?? null,
    lastEnd: view.lastRun?.end ?? null,
    expiresAt,
    author,
    by,
    project,
    isExact: spec.spread === undefined,
    runsCount: view.runsCount,
    version: view.version,
    schedule: view.id,
    createdAt: view.createdAt,
  }
}

function zoneOf(timing: Timing): string | undefined {
  return timing.cron === undefined ? undefined : timing.zone
}

/** The answer to a write. */
export interface TaskWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly task: Task
  readonly budgets: readonly string[]
  readonly next: readonly UpcomingRun[]
}

export const taskWritten = outputOf<TaskWritten>()(
  z.strictObject({
    answer: z
      .enum(['created', 'updated', 'unchanged'])
      .describe('The result; unchanged: it was just asked for, or is so already.'),
    task: taskSchema,
    budgets: z.array(z.string()).describe('The budgets that count its runs.'),
    next: z.array(upcomingRun).describe('The next occurrences, at most five.'),
  }),
)

/** The budgets that count the runs of a task. */
export async function budgetsOf(context: OperationContext, { spec }: TaskView): Promise<string[]> {
  const { name, queue = defaultQueue, target = null, options = {} } = spec
  const work = { queue, schedule: name, target, options }
  return (await Promise.all((context.budgetsOf ?? []).map((names) => names(context, work)))).flat()
}
