import { childExpiry } from '../../../core/agent/child-quota.ts'
import type { RunBounds } from '../../../core/caller.ts'
import type { Reading } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { findRun } from '../../../store/reads/find-run.ts'
import { findSchedule } from '../../../store/reads/find-schedule.ts'
import type { RunView, ScheduleView } from '../../../store/views.ts'
import type { AgentTarget } from '../agent-target.ts'
import { servedSession } from '../inbox/served-session.ts'
import type { TaskView } from '../tasks/task-rows.ts'
import { type MakingTask, madeFrom } from '../tasks/task-writes.ts'
import { runEnded } from './child-rows.ts'

type Given = Readonly<Record<string, unknown>>

/**
 * How the parent's agent is started; a child with the same profile is started the same way. The verbs of agents do not take these fields.
 */
const ofTarget = ['model', 'workspace', 'ref', 'keep', 'setup', 'terminal', 'resume'] as const
/** The limits of the parent apply to its children too. */
const ofOptions = ['account', 'calendar', 'atClose', 'usage']

/**
 * Whether what a live session plans for itself is durable where it does not say: it wakes that session. Outside of a served session, and in
 * a run, there is only the store.
 */
export function durableHere(context: OperationContext): false | undefined {
  return context.actor.within === undefined && servedSession(context) !== undefined ? false : undefined
}

/** Plans a task for the calling agent: a child of its run, if the agent acts in a run. */
export async function planned(
  context: OperationContext,
  { given, value, problems }: Reading<Given>,
  { isUntimed, shaped = (task) => task }: MakingTask = {},
): Promise<{ readonly answer: 'created' | 'unchanged'; readonly view: TaskView }> {
  const { within } = context.actor
  const asAgent = { ...context, actor: { ...context.actor, kind: 'agent' as const } }
  if (within === undefined)
    return madeFrom(asAgent, { given, value, problems }, { isUntimed: isUntimed === true, shaped })
  const { durable, ...fields } = value
  const found = durable === false ? [...problems, boundToRun] : problems
  const parent = await parentOf(asAgent, within)
  const { cwd = within.project } = parent.target
  const whole = { ...inherited(parent, fields.agent), ...fields, queue: parent.run.queue, cwd }
  const making = { isUntimed: isUntimed === true, shaped: (task: Shaped) => asChild(shaped(task), parent, within) }
  return madeFrom({ ...asAgent, folder: cwd }, { given, value: whole, problems: found }, making)
}

/** Children are counted and end with their parent, so the store must keep them. */
const boundToRun: Problem = {
  field: 'durable',
  problem: 'is false in a run',
  expected: 'true, or leave it out: the task is stored, and ends with the task of this run',
}

type Shaped = Parameters<NonNullable<MakingTask['shaped']>>[0]

interface Parent {
  readonly run: RunView
  readonly target: AgentTarget
  readonly schedule: ScheduleView | null
}

async function parentOf({ store }: OperationContext, { run: id }: RunBounds): Promise<Parent> {
  const run = await store.look(findRun, id)
  if (run === null) throw runEnded(id)
  const schedule = run.scheduleId === null ? null : await store.look(findSchedule, run.schedule ?? run.scheduleId)
  return { run, target: run.target as unknown as AgentTarget, schedule }
}

function inherited({ target: { agent, env } }: Parent, wanted: unknown): Given {
  if (wanted !== undefined && wanted !== agent.profile) return {}
  const given = ofTarget.flatMap((field) => (agent[field] === undefined ? [] : [[field, agent[field]] as const]))
  return { agent: agent.profile, ...Object.fromEntries(given), ...(env !== undefined && { env }) }
}

/** A child is counted, tagged and bounded like its parent, and ends with it. */
function asChild(task: Shaped, { run, schedule }: Parent, within: RunBounds): Shaped {
  const { spec, facts } = task
  const bounds = Object.entries(run.options).filter(([name]) => ofOptions.includes(name))
  const ofParent = run.schedule === null ? [] : [`parent:${run.schedule}`]
  const own = (spec.options?.tags ?? []) as readonly string[]
  const before = ((run.options.tags ?? []) as readonly string[]).filter((tag) => !tag.startsWith('parent:'))
  const tags = [...new Set([...before, ...own, ...ofParent])]
  const { expiresAt = 0, ...rest } = facts
  const until = childExpiry({ own: expiresAt, parent: schedule?.spec.task?.expiresAt ?? schedule?.spec.endAt })
  return {
    ...task,
    within,
    spec: { ...spec, options: { ...spec.options, ...Object.fromEntries(bounds), tags } },
    facts: {
      ...rest,
      expiresAt: until,
      project: within.project,
      run: within.run,
      parent: run.schedule ?? within.run,
    },
  }
}
