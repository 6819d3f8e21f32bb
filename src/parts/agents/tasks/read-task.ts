import { expiryOf, type TaskFacts } from '../../../core/agent/task.ts'
import { callerKind } from '../../../core/caller.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { Target } from '../../../core/target.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { durationOf } from '../../../operations/input/duration-input.ts'
import { over } from '../../../operations/input/instant.ts'
import type { Reading } from '../../../operations/input/read-input.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { type ReadSchedule, readPatch, readSchedule } from '../../../operations/schedule/read-schedule.ts'
import { problemsOf } from '../../../operations/schedule/schedule-problems.ts'
import { kindsInStore } from '../../../operations/target/kinds-in-store.ts'
import { absentIn } from '../../../operations/target/target-input.ts'
import type { AgentTarget } from '../agent-target.ts'
import { projectRoot } from '../inbox/project-root.ts'
import type { ServedSession } from '../inbox/served-session.ts'
import { knownProfiles } from '../profiles.ts'
import type { NewTask } from './put-task.ts'
import { refuseUse } from './refuse-use.ts'
import type { TaskHome } from './task-home.ts'
import { agentDefault, agentFields, tasksQueue } from './task-input.ts'

type Given = Readonly<Record<string, unknown>>
type TaskReading = Reading<Given>

/** Reads a requested task into its schedule and its facts. An invalid request is refused whole, with every problem. */
export async function readTask(
  context: OperationContext & Pick<Partial<TaskHome>, 'session'>,
  reading: TaskReading,
  { now, isUntimed }: Pick<TaskPlace, 'now' | 'isUntimed'>,
): Promise<Omit<NewTask, 'ids'>> {
  const { given, value } = reading
  if (context.session !== undefined)
    return readSessionTask({ ...context, session: context.session }, reading, { now, isUntimed })
  const named = (value.agent as string | undefined) ?? agentDefault
  const known = (await knownProfiles(context.store)).get(named)
  await refuseUse(context, { profile: known, given })
  const kinds = await kindsInStore(context, [{ agent: named }])
  const folder = known?.profile.cwd === undefined ? context.folder : undefined
  const { task, problems } = taskFrom({ ...context, kinds }, reading, { now, folder, isUntimed })
  refuse('The task', [...problems, ...absentHere({ ...context, kinds }, value)])
  return task
}

/** Reads a task for the session that this process serves. The session itself executes the task, so the fields of an agent do not apply. */
async function readSessionTask(
  context: OperationContext & { readonly session: ServedSession },
  reading: TaskReading,
  { now, isUntimed }: Pick<TaskPlace, 'now' | 'isUntimed'>,
): Promise<Omit<NewTask, 'ids'>> {
  const { given, value } = reading
  const { id: session, project } = context.session
  await refuseUse(context, { profile: undefined, given })
  const { prompt = '' } = value
  const target = { inbox: { session, prompt } }
  const { task, problems } = taskFrom(context, reading, { now, isUntimed, folder: project, target })
  const missing = {
    field: 'every',
    problem: 'is missing',
    expected:
      'the time between two looks, at least 5m; without it let this session call schedule_wakeup at the end of each look',
  }
  refuse('The session task', [...problems, ...strayed(given), ...(isUntimed === true ? [missing] : [])])
  return { ...task, facts: { ...task.facts, project, session } }
}

/** The problems of a request that gives fields of an agent, or a queue, although the session itself executes the task. */
function strayed(given: Given): Problem[] {
  const beside = [...agentFields, 'queue'].filter((field) => field !== 'prompt' && given[field] != null)
  return beside.map((field) => ({
    field,
    problem: 'is given for a session task',
    expected: 'only a prompt and a timing: the session does it',
  }))
}

export interface TaskPlace {
  readonly now: number
  /** The folder for an agent for which the caller gives none; absent: the agent's profile decides. */
  readonly folder: string | undefined
  /** The stored task of the same name: its zone is kept, and its instants were valid when they were written. */
  readonly before?: ScheduleSpec | undefined
  /** The target, if it is not an agent. */
  readonly target?: Target
  /** Each run of the task decides when the next run is. */
  readonly isUntimed?: boolean | undefined
}

/** Reads a task and returns its problems too. The context has the kinds as the store knows them. */
export function taskFrom(
  context: OperationContext,
  { given, value, problems: found }: TaskReading,
  { now, folder, before, target: own, isUntimed = false }: TaskPlace,
): { task: Omit<NewTask, 'ids'>; problems: Problem[] } {
  const problems: Problem[] = [...found]
  const { profile = agentDefault, ...agent } = agentOf(value)
  const ofAgent = { agent: { profile, ...agent }, ...onlyGiven({ cwd: value.cwd ?? folder, env: value.env }) }
  const target: Target = own ?? ofAgent
  const timing = timingOf(given, value, { now, problems })
  const isTimed = isUntimed || Object.values(timing.asked).some((each) => each !== undefined)
  if (!isTimed && !problems.some(isOfTiming)) {
    problems.push({ field: 'cron', problem: 'is missing', expected: 'one of cron, every, at and in' })
  }
  const expiresAt = readExpiry(given, value, { context, now, problems })
  const { name = 'task-00000000' } = value as { readonly name?: string }
  const whole = { ...(own === undefined && { queue: tasksQueue }), ...value, ...timing.fields, name, target }
  const zone = before?.timing.cron === undefined ? context.zone : before.timing.zone
  const read = readSchedule({ given, value: whole, problems } as never, { ...context, zone })
  const { project, spec } = ofProject(mannered(read.spec, { isExact: value.exact === true }), folder ?? context.folder)
  const { name: _, ...rest } = spec
  const facts = {
    author: context.actor.name,
    by: callerKind(context.actor),
    project,
    ...onlyGiven({ expiresAt }),
  }
  const asked = { target: target.agent ?? target, cwd: spec.target?.cwd, ...timing.asked, name: value.name }
  const task = { spec: { ...rest, ...(value.name !== undefined && { name }) }, facts, asked }
  return { task, problems: told({ ...read, spec }, now, before) }
}

/** Reads a change of a task into the whole schedule after the change. */
export async function readTaskChange(
  context: OperationContext,
  reading: TaskReading,
  { before, now }: { readonly before: ScheduleSpec; readonly now: number },
): Promise<ScheduleSpec> {
  const { given, value } = reading
  const problems: Problem[] = [...reading.problems]
  const was = before.target as unknown as AgentTarget
  const isRetargeted = agentFields.some((field) => value[field] !== undefined)
  const inbox = before.target?.inbox
  if (inbox !== undefined) problems.push(...strayed(given))
  const changed =
    inbox === undefined
      ? changedTarget(was, value)
      : { inbox: { ...(inbox as object), ...onlyGiven({ prompt: value.prompt }) } }
  const target = isRetargeted ? changed : before.target
  const profiles = await knownProfiles(context.store)
  const { profile = '' } = (target as unknown as Partial<AgentTarget>).agent ?? {}
  await refuseUse(context, { profile: profiles.get(profile), given, task: before.task })
  const { fields } = timingOf(given, value, { now, problems })
  const isExpiring = ['expires', 'expiresMs', 'expiresAt', 'permanent'].some((field) => given[field] !== undefined)
  const expiresAt = isExpiring ? readExpiry(given, value, { context, now, problems }) : before.task?.expiresAt
  const within = { ...context, kinds: await kindsInStore(context, [target]) }
  const patch = { ...value, ...fields, ...(isRetargeted && { target }) }
  const read = readPatch(before, { given, value: patch, problems } as never, within)
  const isExact = value.exact === undefined ? before.spread === undefined : value.exact === true
  const { expiresAt: _, ...facts } = before.task as TaskFacts
  const spec = { ...mannered(read.spec, { isExact }), task: { ...facts, ...onlyGiven({ expiresAt }) } }
  refuse(`Task ${facts.id}`, [...told({ ...read, spec }, now, before), ...absentHere(within, value)])
  return spec
}

/** The files and folders that a caller on this machine names, and that are not there. A caller of a server names those of other machines. */
function absentHere({ actor, folder, kinds }: OperationContext, { promptFile, cwd }: Given): Problem[] {
  if (actor.door === 'http') return []
  return absentIn({ agent: { promptFile }, ...onlyGiven({ cwd }) }, { folder, kinds }).map(ofTask)
}

/** A task has the fields of its target, without the target. */
function ofTask({ field, ...rest }: Problem): Problem {
  const own = field.replace(/^target\.agent\.profile$/, 'agent').replace(/^target\.(?:agent\.|inbox\.)?/, '')
  return { field: own, ...rest }
}

function told(read: ReadSchedule, now: number, before?: ScheduleSpec): Problem[] {
  return problemsOf(read, { now, before }).map(ofTask)
}

/** Adds what every task has, whatever the caller requests: its spread, and the question about a missed one-shot. */
function mannered(spec: ScheduleSpec, { isExact }: { readonly isExact: boolean }): ScheduleSpec {
  const { spread: _, asksWhenMissed: __, ...rest } = spec
  return {
    ...rest,
    ...(!isExact && { spread: 'settings' as const }),
    ...(spec.timing.at !== undefined && { asksWhenMissed: true }),
  }
}

/** Tags the schedule with its project, so that its runs can be found by the project too. */
function ofProject(spec: ScheduleSpec, folder: string): { project: string; spec: ScheduleSpec } {
  const { cwd = folder } = (spec.target ?? {}) as { readonly cwd?: string }
  const project = projectRoot(cwd)
  const { tags = [] } = (spec.options ?? {}) as { readonly tags?: readonly string[] }
  return {
    project,
    spec: { ...spec, options: { ...spec.options, tags: [...new Set([...tags, `project:${project}`])] } },
  }
}

function agentOf(value: Given): Partial<AgentTarget['agent']> {
  const beside = ['agent', 'cwd', 'env']
  const given = agentFields.flatMap((field) => (beside.includes(field) ? [] : [[field, value[field]] as const]))
  return onlyGiven({ profile: value.agent, ...Object.fromEntries(given) }) as never
}

/** A new prompt replaces a prompt file, and a new prompt file replaces a prompt. */
function changedTarget({ agent, cwd, env, ...rest }: AgentTarget, value: Given): ScheduleSpec['target'] {
  const { lane: _, ...others } = rest as Given
  const { prompt, promptFile, ...kept } = agent
  const isNewPrompt = value.prompt !== undefined || value.promptFile !== undefined
  const merged = { ...kept, ...(!isNewPrompt && { prompt, promptFile }), ...agentOf(value) }
  const place = { cwd, env, ...onlyGiven({ cwd: value.cwd, env: value.env }) }
  return { ...others, agent: present(merged), ...present(place) } as ScheduleSpec['target']
}

function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))
}

interface Collecting {
  readonly now: number
  readonly problems: Problem[]
}

const timings = ['cron', 'every', 'everyMs', 'at', 'in', 'inMs']

function isOfTiming({ field }: Problem): boolean {
  return timings.includes(field)
}

/**
 * The timing as fields of a schedule, and as the caller gave it: the same words mean the same task, although `in` is a new instant each
 * time.
 */
function timingOf(given: Given, value: Given, { now, problems }: Collecting): { fields: object; asked: Given } {
  const inMs = durationOf<number | null>(value, 'in', problems)
  const other = timings.slice(0, 4).find((field) => given[field] != null)
  if (inMs != null && other !== undefined) {
    problems.push({ field: 'in', problem: `is given beside \`${other}\``, expected: 'only one of the two' })
  }
  const { cron, zone, at } = value
  const asked = { cron, zone, every: value.every ?? value.everyMs, at, in: inMs ?? undefined }
  return { fields: inMs == null || other !== undefined ? {} : { at: now + inMs }, asked }
}

/** When the task expires. In a change, both `null` and `permanent` remove the expiry. */
function readExpiry(
  given: Given,
  value: Given,
  { context, now, problems }: Collecting & { readonly context: OperationContext },
): number | undefined {
  const lastsMs = durationOf<number | null>(value, 'expires', problems)
  const wantedAt = lastsMs == null ? ((value.expiresAt as number | null | undefined) ?? undefined) : now + lastsMs
  const isTwice = lastsMs != null && given.expiresAt != null
  if (isTwice)
    problems.push({ field: 'expires', problem: 'is given beside `expiresAt`', expected: 'only one of the two' })
  if (wantedAt !== undefined && value.permanent === true) {
    const field = lastsMs == null ? 'expiresAt' : 'expires'
    problems.push({ field, problem: 'is given beside `permanent`', expected: 'only one of the two' })
  }
  if (wantedAt !== undefined && wantedAt <= now) problems.push(over('expiresAt', wantedAt, now))
  return expiryOf({ now, by: callerKind(context.actor), wantedAt, isPermanent: value.permanent === true })
}
