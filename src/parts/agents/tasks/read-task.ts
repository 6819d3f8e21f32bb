import { expiryOf, type TaskFacts } from '../../../core/agent/task.ts'
import { callerKind, type RunBounds } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { secretsIn } from '../../../core/secret-name.ts'
import type { Target } from '../../../core/target.ts'
import { type Scope, tooNarrow } from '../../../operations/caller-scope.ts'
import { onlyGiven } from '../../../operations/fields/only-given.ts'
import { durationOf } from '../../../operations/input/duration-input.ts'
import { over } from '../../../operations/input/instant.ts'
import type { Reading } from '../../../operations/input/read-input.ts'
import { type Problem, refuse } from '../../../operations/input/refuse-input.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { recordRefusal } from '../../../operations/refuse-agent.ts'
import { type ReadSchedule, readPatch, readSchedule } from '../../../operations/schedule/read-schedule.ts'
import { problemsOf } from '../../../operations/schedule/schedule-problems.ts'
import { kindsInStore } from '../../../operations/target/kinds-in-store.ts'
import type { AgentTarget } from '../agent-target.ts'
import { projectRoot } from '../inbox/project-root.ts'
import type { ServedSession } from '../inbox/served-session.ts'
import type { AgentProfile } from '../profile-form.ts'
import { type KnownProfile, knownProfiles } from '../profiles.ts'
import type { NewTask } from './put-task.ts'
import type { TaskHome } from './task-home.ts'
import { agentDefault, agentFields, tasksQueue } from './task-input.ts'

type Given = Readonly<Record<string, unknown>>
type TaskReading = Reading<Given>

/** Reads a task that is asked for into its schedule and its facts; it is refused whole, with everything that is wrong. */
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
  await refuseUse(context, { profile: known, given, env: value.env })
  const kinds = await kindsInStore(context, [{ agent: named }])
  const folder = known?.profile.cwd === undefined ? context.folder : undefined
  const { task, problems } = taskFrom({ ...context, kinds }, reading, { now, folder, isUntimed })
  refuse('The task', problems)
  return task
}

/** Reads a task for the session that this process serves. The session does it, so that there is nothing to say of an agent. */
async function readSessionTask(
  context: OperationContext & { readonly session: ServedSession },
  reading: TaskReading,
  { now, isUntimed }: Pick<TaskPlace, 'now' | 'isUntimed'>,
): Promise<Omit<NewTask, 'ids'>> {
  const { given, value } = reading
  const { id: session, project } = context.session
  await refuseUse(context, { profile: undefined, given, env: undefined })
  const { prompt = '' } = value
  const target = { inbox: { session, prompt } }
  const { task, problems } = taskFrom(context, reading, { now, isUntimed, folder: project, target })
  const missing = {
    field: 'every',
    problem: 'is missing',
    expected: 'a timing: a session task has no runs that wake it',
  }
  refuse('The session task', [...problems, ...strayed(given), ...(isUntimed === true ? [missing] : [])])
  return { ...task, facts: { ...task.facts, project, session } }
}

/** What is said of an agent where the session itself does the task. */
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
  /** Where the agent runs that is given no folder; without one its profile says. */
  readonly folder: string | undefined
  /** The task of its name as it is: its zone is kept, and its instants were right when they were written. */
  readonly before?: ScheduleSpec | undefined
  /** The target, where it is no agent. */
  readonly target?: Target
  /** Its runs say when the next one is. */
  readonly isUntimed?: boolean | undefined
}

/** The same, with the problems beside it. The context has the kinds as the store knows them. */
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

/** Reads a change of a task into the whole schedule as it will be. */
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
  await refuseUse(context, { profile: profiles.get(profile), given, env: value.env, task: before.task })
  const { fields } = timingOf(given, value, { now, problems })
  const isExpiring = ['expires', 'expiresMs', 'expiresAt', 'permanent'].some((field) => given[field] !== undefined)
  const expiresAt = isExpiring ? readExpiry(given, value, { context, now, problems }) : before.task?.expiresAt
  const within = { ...context, kinds: await kindsInStore(context, [target]) }
  const patch = { ...value, ...fields, ...(isRetargeted && { target }) }
  const read = readPatch(before, { given, value: patch, problems } as never, within)
  const isExact = value.exact === undefined ? before.spread === undefined : value.exact === true
  const { expiresAt: _, ...facts } = before.task as TaskFacts
  const spec = { ...mannered(read.spec, { isExact }), task: { ...facts, ...onlyGiven({ expiresAt }) } }
  refuse(`Task ${facts.id}`, told({ ...read, spec }, now, before))
  return spec
}

function told(read: ReadSchedule, now: number, before?: ScheduleSpec): Problem[] {
  return problemsOf(read, { now, before }).map(({ field, ...rest }) => ({
    field: field.replace(/^target\.agent\.profile$/, 'agent').replace(/^target\.(?:agent\.|inbox\.)?/, ''),
    ...rest,
  }))
}

/** What every task has, whatever was asked for: its spread, and the question about a missed one-shot. */
function mannered(spec: ScheduleSpec, { isExact }: { readonly isExact: boolean }): ScheduleSpec {
  const { spread: _, asksWhenMissed: __, ...rest } = spec
  return {
    ...rest,
    ...(!isExact && { spread: 'settings' as const }),
    ...(spec.timing.at !== undefined && { asksWhenMissed: true }),
  }
}

/** The task in its project, by which its runs are found too. */
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

/** A new prompt takes the place of a prompt file, and the other way round. */
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

/** The timing as fields of a schedule, and as it was given: the same words mean the same task, although `in` is another instant each time. */
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

/** When it expires. `null` in a change takes the expiry away, as `permanent` does. */
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

interface Use {
  readonly profile: KnownProfile | undefined
  readonly given: Given
  readonly env: unknown
  /** The task that is changed. */
  readonly task?: TaskFacts | undefined
}

/** What only a person decides: what starts beside the agent, with what rights, and for how long. */
const forPersons = ['permanent', 'env', 'when', 'until']

async function refuseUse(context: OperationContext, { profile, given, env, task }: Use): Promise<void> {
  const { actor, scope } = context
  if (callerKind(actor) === 'agent') {
    const beyond = forPersons.filter((field) => given[field] !== undefined)
    if (task?.by === 'person') await refuseAgentUse(context, `Task ${task.id} was made by a person`, task)
    if (beyond.length > 0) await refuseAgentUse(context, `Only a person may give ${beyond.join(', ')}`, task)
  }
  if (actor.within !== undefined) return refuseInRun(actor.within, profile?.profile)
  if (scope === undefined || scope === 'admin') return
  const needs: Scope = profile?.profile.mayUse === 'operate' && secretsIn(env).length === 0 ? 'operate' : 'admin'
  if (profile === undefined || needs === scope) return
  const hint = `Use a token with that scope, or let agents.${profile.profile.name}.mayUse say operate.`
  throw tooNarrow(actor.name, { has: scope, needs }, hint)
}

/** A run plans tasks for its own profile where that says so, and for others where any operator may. */
function refuseInRun({ profile: own, run }: RunBounds, profile: AgentProfile | undefined): void {
  if (profile === undefined || profile.mayUse === 'operate') return
  if (profile.mayUse === 'self' && profile.name === own) return
  const { name, mayUse = 'admin' } = profile
  const needs = name === own ? 'self' : 'operate'
  throw new BelfryError('not-allowed', `Run ${run} may not plan tasks for ${name}: its mayUse is ${mayUse}.`, {
    hint: `A person may let agents.${name}.mayUse say ${needs}.`,
    details: { caller: 'agent', profile: name, mayUse, needs },
  })
}

async function refuseAgentUse(context: OperationContext, says: string, task: TaskFacts | undefined): Promise<never> {
  const verb = task === undefined ? 'create' : 'edit'
  await recordRefusal(context, { noun: 'task', verb }, { id: task?.id })
  throw new BelfryError('not-allowed', `${says}, and ${JSON.stringify(context.actor.name)} is an agent.`, {
    hint: 'Leave it out, or ask a person.',
    details: { caller: 'agent' },
  })
}
