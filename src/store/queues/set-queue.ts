import { BelfryError } from '../../core/error.ts'
import { isRecord } from '../../core/json/record.ts'
import { type Policy, policyProblems } from '../../core/queue/policy.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { followQueue } from '../calendars/use-calendars.ts'
import { canonicalJson, checkActor, checkFields, checkInteger, checkText, invalid, nameLengthMax } from '../check.ts'
import { pauseQueue } from '../holds/pause-queue.ts'
import { refuseManaged } from '../managed.ts'
import type { PolicyPatch, QueueAnswer, QueueChange } from '../port.ts'
import { findQueue as readQueue } from '../reads/find-queue.ts'
import { reasonLengthMax } from '../runs/cancel-run.ts'
import { tryRegate } from '../runs/key-gate.ts'
import { both, clockNow, dialects, freshIds, one, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import type { About } from '../verb.ts'
import type { QueueView } from '../views.ts'
import { madeAnew, policyAtFirst, readPolicy } from './queue-row.ts'

const lockQueue = dialects('set queue lock', {
  sqlite: `select ${columnsOf('queue')} from belfry.queue where ns = $1 and name = $2`,
  postgres: `select ${columnsOf('queue')} from belfry.queue where ns = $1 and name = $2 for no key update`,
})
const insertQueue = both(
  'set queue insert',
  `insert into belfry.queue as q (id, ns, name, policy, policy_version, created_at)
    values ($1, $2, $3, $4, 1, $5) ${madeAnew} returning id, policy_version`,
)
export const updateQueue = both(
  'set queue update',
  'update belfry.queue set policy = $2, policy_version = $3 where id = $1',
)
const insertVersion = both(
  'set queue version',
  'insert into belfry.queue_version (ns, queue_id, version, policy, at, actor, door) values ($1, $2, $3, $4, $5, $6, $7)',
)
/** The next key behind a gate. A `distinct` would read every run that waits there. */
const nextGatedKey = both(
  'set queue next gated key',
  `select concurrency_key as key from belfry.aside where kind = 'key' and queue_id = $1 and concurrency_key > $2
    order by concurrency_key limit 1`,
)

/** Runs that one step may move, and gates that it may read. */
const movesMax = 2_000
const gatesMax = 1_000

const changeFields: ReadonlySet<string> = new Set<keyof QueueChange>([
  'policy',
  'paused',
  'actor',
  'ifVersion',
  'isWhole',
  'source',
])
const pauseFields: ReadonlySet<string> = new Set(['reason'])

/** Creates a queue or changes the named fields. An invalid policy is refused whole, with all its problems. */
export function* setQueue(context: StoreContext, name: string, change: QueueChange): Step<QueueAnswer> {
  checkText(name, 'queue', nameLengthMax)
  checkChange(change)
  const found = yield* one(lockQueue, context.ns, name)
  if (found !== undefined && found.deleted_at === null) return yield* update(context, found, change)
  const created = yield* create(context, name, change)
  // Another transaction created the queue between the two statements, so this write is a change of
  // that queue.
  return created ?? (yield* update(context, (yield* one(lockQueue, context.ns, name)) as Row, change))
}
setQueue.rehearses = true as const
setQueue.wakes = (_: QueueAnswer, [name]: About) => ({ queues: [name] })

function checkChange(change: QueueChange): void {
  checkFields(change, 'change', changeFields)
  const { policy, paused, actor, ifVersion } = change
  checkActor(actor)
  if (policy !== undefined && !isRecord(policy)) throw invalid('policy', `is ${shown(policy)}`, 'an object')
  if (paused !== undefined && paused !== false) {
    if (!isRecord(paused)) throw invalid('paused', `is ${shown(paused)}`, 'false, or an object with a reason')
    checkFields(paused, 'paused', pauseFields)
    checkText(paused.reason, 'paused.reason', reasonLengthMax)
  }
  if (ifVersion !== undefined) checkInteger(ifVersion, 'ifVersion', 0, Number.MAX_SAFE_INTEGER)
}

function shown(value: unknown): string {
  return value === null || typeof value === 'boolean' ? String(value) : Array.isArray(value) ? 'a list' : typeof value
}

function* create(context: StoreContext, name: string, change: QueueChange): Step<QueueAnswer | null> {
  const { ifVersion = 0, actor } = change
  if (ifVersion !== 0) return { answer: 'version-differs', queue: null }
  const policy = patched(name, policyAtFirst(context, name), change.policy)
  const text = JSON.stringify(policy)
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const row = yield* one(insertQueue, id, context.ns, name, text, now)
  if (row === undefined) return null
  yield* pauseQueue(context, name, change)
  yield* tellParts(context, policy)
  yield* followQueue(context, name, null, policy)
  const [queueId, version] = [row.id as number, row.policy_version as number]
  yield* one(insertVersion, context.ns, queueId, version, text, now, actor.name, actor.door)
  yield* writeAudit(context, { actor, verb: 'queue.create', subject: subjectOf(name), detail: detailOf(change) }, now)
  return { answer: 'created', queue: yield* viewOf(context, name) }
}

function* update(context: StoreContext, found: Row, change: QueueChange): Step<QueueAnswer> {
  const [id, name, version] = [found.id as number, found.name as string, found.policy_version as number]
  const { ifVersion = version, actor } = change
  if (ifVersion !== version) return { answer: 'version-differs', queue: yield* viewOf(context, name) }
  const stored = readPolicy(found.policy as string)
  const base = change.isWhole === true ? null : stored
  const policy = patched(name, base ?? policyAtFirst(context, name), change.policy)
  const isNewPolicy =
    change.policy !== undefined && (stored === null || canonicalJson(stored) !== canonicalJson(policy))
  const managedBy = found.managed_by as string | null
  const now = yield* clockNow()
  if (isNewPolicy) refuseManaged({ noun: 'queue', name, managedBy }, change.source)
  const isPausedAnew = yield* pauseQueue(context, name, change)
  if (!isNewPolicy && !isPausedAnew) return { answer: 'unchanged', queue: yield* viewOf(context, name) }
  const text = isNewPolicy ? JSON.stringify(policy) : (found.policy as string)
  const newVersion = isNewPolicy ? version + 1 : version
  const isWider = isNewPolicy && isWiderThan(stored, policy)
  if (isNewPolicy) {
    yield* one(updateQueue, id, text, newVersion)
    yield* tellParts(context, policy)
    yield* followQueue(context, name, stored, policy)
    yield* one(insertVersion, context.ns, id, newVersion, text, now, actor.name, actor.door)
  }
  yield* writeAudit(context, { actor, verb: 'queue.update', subject: subjectOf(name), detail: detailOf(change) }, now)
  if (isWider) yield* openGates(context, id, policy.maxConcurrentPerKey ?? null)
  return { answer: 'updated', queue: yield* viewOf(context, name) }
}

function* tellParts(context: StoreContext, policy: Policy): Step<void> {
  for (const { written } of context.parts) if (written !== undefined) yield* written(context, policy)
}

/** `null` removes an optional field and `retention` is changed field by field; other fields stay. */
function patched(name: string, base: Policy, patch: PolicyPatch | undefined): Policy {
  if (patch === undefined) return base
  const { retention } = patch
  const ofRetention = isRecord(retention) ? { retention: merged(base.retention, retention) } : {}
  const whole = merged(base, { ...patch, ...ofRetention })
  // The caller checks the field names, because it knows what parts add.
  const problems = policyProblems(whole, Object.keys(whole))
  if (problems.length === 0) return whole as unknown as Policy
  const said = problems.map(({ field, problem, expected }) => `${field} ${problem}, it must be ${expected}`).join('; ')
  throw new BelfryError('invalid', `The policy of queue ${name} is not valid: ${said}.`, { details: { problems } })
}

function merged(base: object, patch: object): Record<string, unknown> {
  const whole: Record<string, unknown> = { ...base }
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete whole[field]
    else if (value !== undefined) whole[field] = value
  }
  return whole
}

/** Whether more runs of each key may start than before. */
function isWiderThan(before: Policy | null, after: Policy): boolean {
  const was = before === null ? 0 : (before.maxConcurrentPerKey ?? Number.POSITIVE_INFINITY)
  return (after.maxConcurrentPerKey ?? Number.POSITIVE_INFINITY) > was
}

/**
 * Moves runs that need not wait any longer into the line. The step is bounded and waits for no lock. A key that it does not reach
 * has a run in line or in flight, whose end opens the gate with the new ceiling; otherwise `repair` finds it.
 */
function* openGates(context: StoreContext, queueId: number, limit: number | null): Step<void> {
  let after = ''
  let moves = 0
  for (let gates = 0; gates < gatesMax && moves < movesMax; gates++) {
    const next = yield* one<{ key: string }>(nextGatedKey, queueId, after)
    if (next === undefined) return
    moves += yield* tryRegate({ ns: context.ns, queueId, key: next.key, limit })
    after = next.key
  }
}

function* viewOf(context: StoreContext, name: string): Step<QueueView> {
  return (yield* readQueue(context, name)) as QueueView
}

function subjectOf(name: string): string {
  return `queue ${name}`
}

function detailOf({ policy, paused }: QueueChange) {
  return {
    ...(policy !== undefined && { policy }),
    ...(paused !== undefined && { paused }),
  }
}
