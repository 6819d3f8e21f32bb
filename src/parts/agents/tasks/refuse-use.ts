import { relative, resolve, sep } from 'node:path'
import type { TaskFacts } from '../../../core/agent/task.ts'
import { callerKind, type RunBounds } from '../../../core/caller.ts'
import { BelfryError } from '../../../core/error.ts'
import type { OperationContext } from '../../../operations/operation-context.ts'
import { recordRefusal } from '../../../operations/refuse-agent.ts'
import { projectRoot, realOf } from '../inbox/project-root.ts'
import { servedSession } from '../inbox/served-session.ts'
import type { AgentProfile } from '../profile-form.ts'
import type { KnownProfile } from '../profiles.ts'

type Given = Readonly<Record<string, unknown>>

interface Use {
  readonly profile: KnownProfile | undefined
  readonly given: Given
  /** The task that is changed. */
  readonly task?: TaskFacts | undefined
}

/** Fields by which the caller would choose programs and their rights: the environment of the agent, and a command before it. */
const forAdmins = ['env', 'setup']
/** Fields that only a person may set: what is started beside the agent, with which rights, and for how long. */
const forPersons = [...forAdmins, 'permanent', 'when', 'until']
/** Paths of a task. A caller that is no admin names none outside its project. */
const paths = ['cwd', 'promptFile'] as const

/** Refuses a task that its caller may not write: by its profile, by its fields, or by its author. */
export async function refuseUse(context: OperationContext, { profile, given, task }: Use): Promise<void> {
  const { actor, scope } = context
  const outside = outsideProject(context, given)
  if (callerKind(actor) === 'agent') {
    const beyond = forPersons.filter((field) => given[field] !== undefined)
    if (task?.by === 'person') await refuseAgentUse(context, `Task ${task.id} was made by a person`, task)
    if (beyond.length > 0) await refuseAgentUse(context, `Only a person may give ${beyond.join(', ')}`, task)
    if (outside !== null) await refuseAgentUse(context, `Only a person may give ${outside}`, task)
  }
  if (actor.within !== undefined) return refuseInRun(actor.within, profile?.profile)
  if (scope === undefined || scope === 'admin' || profile === undefined) return
  const { name, mayUse } = profile.profile
  if (mayUse !== 'operate') {
    throw forAdmin(context, `plan prompts for the profile ${name}`, `let agents.${name}.mayUse say operate`)
  }
  const beyond = forAdmins.filter((field) => given[field] !== undefined)
  const what = beyond.length > 0 ? beyond.join(', ') : outside
  if (what !== null) throw forAdmin(context, `give ${what}`, 'leave it out')
}

/** The first path of a task that leads out of the project in which the caller, or its server, works. */
function outsideProject({ folder }: OperationContext, given: Given): string | null {
  const root = projectRoot(folder)
  const field = paths.find((each) => {
    const path = given[each]
    return typeof path === 'string' && !isWithin(root, resolve(folder, path))
  })
  return field === undefined ? null : `a ${field} outside the project ${root}`
}

function isWithin(root: string, path: string): boolean {
  const away = relative(root, realOf(path))
  return away !== '..' && !away.startsWith(`..${sep}`)
}

function forAdmin(context: OperationContext, what: string, otherwise: string): BelfryError {
  const { actor, scope } = context
  const [who, way] =
    actor.door === 'mcp'
      ? ['this server', 'Ask a person to plan it']
      : [`token ${JSON.stringify(actor.name)}`, 'Use a token with the scope admin']
  const session =
    servedSession(context) === undefined ? '' : '; or give durable: false: the prompt comes to this session'
  return new BelfryError('not-allowed', `Only an admin may ${what}; ${who} has the scope ${scope}.`, {
    hint: `${way}, or ${otherwise}${session}.`,
    details: { has: scope, needs: 'admin' },
  })
}

/** A run plans tasks for its own profile if the profile allows that, and for other profiles if these allow it to any operator. */
function refuseInRun({ profile: own, run }: RunBounds, profile: AgentProfile | undefined): void {
  if (profile === undefined || profile.mayUse === 'operate') return
  if (profile.mayUse === 'self' && profile.name === own) return
  const { name, mayUse = 'admin' } = profile
  const needs = name === own ? 'self' : 'operate'
  throw new BelfryError(
    'not-allowed',
    `Run ${run} may not plan tasks for the profile ${name}, whose mayUse is ${mayUse}.`,
    {
      hint: `Ask a person to plan it, or to let agents.${name}.mayUse say ${needs}.`,
      details: { caller: 'agent', profile: name, mayUse, needs },
    },
  )
}

async function refuseAgentUse(context: OperationContext, says: string, task: TaskFacts | undefined): Promise<never> {
  const verb = task === undefined ? 'create' : 'edit'
  await recordRefusal(context, { noun: 'task', verb }, { id: task?.id })
  throw new BelfryError('not-allowed', `${says}, and ${JSON.stringify(context.actor.name)} is an agent.`, {
    hint: 'Leave it out, or ask a person.',
    details: { caller: 'agent' },
  })
}
