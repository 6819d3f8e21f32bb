import type { GroupSpec } from '../../core/schedule/group.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { canonicalJson, checkActor } from '../check.ts'
import { lockManaged, refuseManaged } from '../managed.ts'
import type { Actor } from '../port.ts'
import { refreshWindows } from '../schedules/hint-window.ts'
import { both, clockNow, freshIds, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { type GroupRow, groupTable, lockGroup, memberNames } from './group-row.ts'
import { freeMember, holdMember, isInPause } from './hold-members.ts'

const insertGroup = both('group insert', groupTable.insertOne())
const updateGroup = both(
  'group update',
  'update belfry.schedule_group set spec = $2, updated_at = $3, managed_by = $4 where id = $1',
)
const savePause = both('group save pause', 'update belfry.schedule_group set paused = $2 where id = $1')
const removeGroup = both('group remove', 'delete from belfry.schedule_group where id = $1')

/** A field that is absent stays; `null` removes it. */
export type GroupPatch = { readonly [Field in keyof GroupSpec]?: GroupSpec[Field] | null }

export interface GroupChange {
  readonly actor: Actor
  /** `create` refuses an existing group with other fields, `update` one that does not exist. */
  readonly mode: 'create' | 'update' | 'put'
  /** The config file that manages it from now on. */
  readonly source?: string
}

export interface GroupWritten {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'exists' | 'not-found'
  readonly before: GroupSpec | null
  readonly group: GroupRow | null
}

/**
 * Creates a group or changes its fields. A change keeps fields that are not given; a file and a creation give
 * all fields.
 */
export function* putGroup(
  context: StoreContext,
  name: string,
  patch: GroupPatch,
  { actor, mode, source }: GroupChange,
): Step<GroupWritten> {
  checkActor(actor)
  yield* lockManaged(context)
  const found = yield* lockGroup(context, name)
  const merged = { ...(mode === 'update' ? found?.spec : {}), ...patch }
  const given = Object.entries(merged).filter(([, value]) => value !== null && value !== undefined)
  const spec: GroupSpec = Object.fromEntries(given)
  const now = yield* clockNow()
  const managedBy = source ?? null
  const audited = (verb: string) => writeAudit(context, { actor, verb, subject: `group ${name}`, detail: spec }, now)
  if (found === null) {
    if (mode === 'update') return { answer: 'not-found', before: null, group: null }
    const [id] = (yield* freshIds(1)) as [number]
    const times = { createdAt: now, createdBy: actor.name, updatedAt: now }
    const group = { id, ns: context.ns, name, spec, paused: null, ...times, managedBy }
    yield* run(insertGroup, ...groupTable.tuple(group))
    yield* audited('group.create')
    return { answer: 'created', before: null, group }
  }
  const isSame = canonicalJson(found.spec) === canonicalJson(spec)
  if (isSame && (source === undefined || found.managedBy === source)) {
    return { answer: 'unchanged', before: found.spec, group: found }
  }
  if (mode === 'create') return { answer: 'exists', before: found.spec, group: found }
  refuseManaged({ noun: 'group', name, managedBy: found.managedBy }, source)
  yield* run(updateGroup, found.id, JSON.stringify(spec), now, managedBy)
  if (found.spec.window !== spec.window) yield* refreshWindows(context, yield* memberNames(context, name))
  if (!isSame) yield* audited('group.update')
  return { answer: isSame ? 'unchanged' : 'updated', before: found.spec, group: { ...found, spec, updatedAt: now } }
}
putGroup.rehearses = true as const

export interface PauseOptions {
  readonly until: number | null
  readonly reason: string | null
  readonly actor: Actor
}

export type PauseAnswer =
  | { readonly answer: 'not-found' }
  | { readonly answer: 'paused' | 'resumed' | 'was-not-paused'; readonly group: GroupRow; readonly members: number }

/**
 * Puts a hold on each member, replacing the holds of an earlier pause. Pauses of the members themselves stay as they are.
 */
export function* pauseGroup(context: StoreContext, name: string, options: PauseOptions): Step<PauseAnswer> {
  checkActor(options.actor)
  const found = yield* lockGroup(context, name)
  if (found === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const { until, reason, actor } = options
  const group = { ...found, paused: { at: now, until, reason, by: actor.name } }
  yield* run(savePause, found.id, JSON.stringify(group.paused))
  const names = yield* memberNames(context, name)
  for (const schedule of names) {
    if (found.paused !== null) yield* freeMember(context, schedule, actor)
    yield* holdMember(context, group, schedule, now)
  }
  const detail = { reason, until, members: names.length }
  yield* writeAudit(context, { actor, verb: 'group.pause', subject: `group ${name}`, detail }, now)
  return { answer: 'paused', group, members: names.length }
}

/** Lifts the holds of the group. A member with a pause of its own stays paused. */
export function* resumeGroup(
  context: StoreContext,
  name: string,
  { actor }: { readonly actor: Actor },
): Step<PauseAnswer> {
  checkActor(actor)
  const found = yield* lockGroup(context, name)
  if (found === null) return { answer: 'not-found' }
  const now = yield* clockNow()
  const names = yield* memberNames(context, name)
  const group = { ...found, paused: null }
  if (found.paused === null) return { answer: 'was-not-paused', group, members: names.length }
  yield* run(savePause, found.id, null)
  for (const schedule of names) yield* freeMember(context, schedule, actor)
  const answer = isInPause(found.paused, now) ? 'resumed' : 'was-not-paused'
  yield* writeAudit(context, { actor, verb: 'group.resume', subject: `group ${name}` }, now)
  return { answer, group, members: names.length }
}

export type GroupDeleted =
  | { readonly answer: 'deleted' | 'not-found' }
  | { readonly answer: 'in-use'; readonly members: readonly string[] }

/** Deletes a group that no schedule names. */
export function* deleteGroup(
  context: StoreContext,
  name: string,
  { actor, source }: { readonly actor: Actor; readonly source?: string },
): Step<GroupDeleted> {
  checkActor(actor)
  yield* lockManaged(context)
  const found = yield* lockGroup(context, name)
  if (found === null) return { answer: 'not-found' }
  refuseManaged({ noun: 'group', name, managedBy: found.managedBy }, source)
  const members = yield* memberNames(context, name)
  if (members.length > 0) return { answer: 'in-use', members }
  yield* run(removeGroup, found.id)
  const audit = { actor, verb: 'group.delete', subject: `group ${name}`, detail: found.spec }
  yield* writeAudit(context, audit, yield* clockNow())
  return { answer: 'deleted' }
}
deleteGroup.rehearses = true as const
