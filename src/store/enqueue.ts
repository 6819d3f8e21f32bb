import { BelfryError } from '../core/error.ts'
import { formatId } from '../core/id.ts'
import { needOf } from '../core/target.ts'
import { admit } from './admit.ts'
import {
  checkInstant,
  checkInteger,
  checkText,
  hashOf,
  invalid,
  jsonText,
  keyLengthMax,
  payloadBytesMax,
  priorityMax,
} from './check.ts'
import type { StoreContext } from './context.ts'
import { ensureNeeds, needName } from './need-row.ts'
import type { Enqueued, NewRun } from './port.ts'
import { defaultQueue, ensureQueues, type QueueRow } from './queue-row.ts'
import { type RunRow, writeRuns } from './run-row.ts'
import { all, both, clockNow, dialects, each, freshIds, inList, one, type Step } from './statement.ts'

const priorityDefault = 100
const looksMax = 10

const claimIdempotencyKeys = dialects('enqueue claim idempotency', {
  sqlite: `insert into belfry.idempotency (ns, key, run_id, input_hash, created_at) values ($1, $2, $3, $4, $5)
    on conflict (ns, key) do nothing`,
  postgres: `insert into belfry.idempotency (ns, key, run_id, input_hash, created_at)
    select * from unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::bigint[]) as i (ns, key, run_id, hash, at)
    order by key, run_id on conflict (ns, key) do nothing`,
})
const findIdempotencyKeys = dialects('enqueue find idempotency', {
  sqlite: `select key, run_id, input_hash from belfry.idempotency where ns = $1 and key ${inList.texts('$2').sqlite}`,
  postgres: `select key, run_id, input_hash from belfry.idempotency where ns = $1 and key ${inList.texts('$2').postgres}`,
})
const pointIdempotencyKey = both(
  'enqueue point idempotency',
  'update belfry.idempotency set run_id = $3 where ns = $1 and key = $2',
)
const claimDedupeKeys = dialects('enqueue claim dedupe', {
  sqlite: 'insert into belfry.dedupe (ns, key, run_id) values ($1, $2, $3) on conflict (ns, key) do nothing',
  postgres: `insert into belfry.dedupe (ns, key, run_id)
    select * from unnest($1::bigint[], $2::text[], $3::bigint[]) as i (ns, key, run_id)
    order by key, run_id on conflict (ns, key) do nothing`,
})
const findDedupeKeys = dialects('enqueue find dedupe', {
  sqlite: `select key, run_id from belfry.dedupe where ns = $1 and key ${inList.texts('$2').sqlite}`,
  postgres: `select key, run_id from belfry.dedupe where ns = $1 and key ${inList.texts('$2').postgres}`,
})

interface Candidate {
  readonly id: number
  readonly input: NewRun
}

/** Takes work in: an accepted run is in the store, once, whatever happens to whoever sent it. */
export function* enqueue(context: StoreContext, inputs: readonly NewRun[]): Step<Enqueued[]> {
  const needs = inputs.map(checkRun)
  const { queues, created } = yield* ensureQueues(context, inputs.map(queueName))
  const needIds = yield* ensureNeeds(context, needs)
  const now = yield* clockNow()
  const ids = yield* freshIds(inputs.length)
  const candidates = inputs.map((input, index) => ({ id: ids[index] as number, input }))

  const answers = new Map<number, Enqueued>()
  yield* refuseKnownKeys(context, candidates, now, answers)
  yield* refuseLiveDuplicates(
    context,
    candidates.filter(({ id }) => !answers.has(id)),
    answers,
  )

  const accepted: { row: RunRow; queue: QueueRow }[] = []
  for (const [index, { id, input }] of candidates.entries()) {
    if (answers.has(id)) continue
    const queue = queues.get(queueName(input)) as QueueRow
    const needId = needIds.get(needName(needs[index] ?? null)) as number
    accepted.push({ queue, row: rowOf(context, { id, input, queue, needId, now }) })
    answers.set(id, { created: true, id: formatId('run', id), ...(created.has(queue.name) && { queueCreated: true }) })
  }
  yield* writeRuns(accepted.map(({ row }) => row))
  yield* admit(
    now,
    accepted.map(({ row, queue }) => ({ ...arrivalOf(row), keyLimit: queue.policy?.maxConcurrentPerKey ?? null })),
  )
  return ids.map((id) => answers.get(id) as Enqueued)
}

/** A fresh run as it comes to its place: nothing counted yet. */
export function arrivalOf(row: RunRow) {
  const standing = {
    runId: row.id,
    ns: row.ns,
    queueId: row.queueId,
    needId: row.needId,
    priority: row.priority,
    enqueuedAt: row.enqueuedAt,
    key: row.concurrencyKey,
    fence: 0,
    attempts: 0,
    releases: 0,
    deaths: 0,
  }
  const eligible = row.notBefore === null ? null : { at: row.notBefore, reason: 'not-before' }
  return { standing, eligible, kept: null }
}

function queueName(input: NewRun): string {
  return input.queue ?? defaultQueue
}

function checkRun(input: NewRun, index: number) {
  const where = (field: string) => `runs[${index}].${field}`
  const answer = needOf(input.target)
  if ('problem' in answer) throw new BelfryError('invalid', `${where('target')} ${answer.problem}.`)
  if (answer.need?.handler !== undefined) checkText(answer.need.handler, where('target.handler'), keyLengthMax)
  if (input.priority !== undefined) checkInteger(input.priority, where('priority'), -priorityMax, priorityMax)
  for (const field of ['notBefore', 'deadline'] as const) {
    if (input[field] !== undefined) checkInstant(input[field], where(field))
  }
  for (const field of ['concurrencyKey', 'idempotencyKey', 'dedupeKey'] as const) {
    if (input[field] !== undefined) checkText(input[field], where(field), keyLengthMax)
  }
  if (input.notBefore !== undefined && input.deadline !== undefined && input.deadline <= input.notBefore) {
    throw invalid(where('deadline'), `is ${input.deadline}`, `after notBefore, which is ${input.notBefore}`)
  }
  return answer.need
}

/** The first run with a key answers for the key, also when two callers come with it at the same moment. */
function* refuseKnownKeys(
  context: StoreContext,
  candidates: readonly Candidate[],
  now: number,
  answers: Map<number, Enqueued>,
): Step<void> {
  const keyed = candidates.flatMap(({ id, input }) => {
    const { idempotencyKey: key, ...rest } = input
    return key === undefined ? [] : [{ id, key, hash: hashOf(rest) }]
  })
  if (keyed.length === 0) return
  yield* each(
    claimIdempotencyKeys,
    keyed.map(({ id, key, hash }) => [context.ns, key, id, hash, now]),
  )
  const keys = JSON.stringify(keyed.map(({ key }) => key))
  const rows = yield* all<{ key: string; run_id: number; input_hash: string }>(findIdempotencyKeys, context.ns, keys)
  const known = new Map(rows.map((row) => [row.key, row]))
  for (const { id, key, hash } of keyed) {
    const first = known.get(key)
    if (first === undefined || first.run_id === id) continue
    const firstId = formatId('run', first.run_id)
    if (first.input_hash === hash) answers.set(id, { created: false, id: firstId, because: 'idempotency-key' })
    else answers.set(id, { created: false, id: firstId, because: 'conflict', key })
  }
}

function* refuseLiveDuplicates(
  context: StoreContext,
  candidates: readonly Candidate[],
  answers: Map<number, Enqueued>,
): Step<void> {
  const keyed = candidates.flatMap(({ id, input }) =>
    input.dedupeKey === undefined ? [] : [{ id, key: input.dedupeKey, idempotencyKey: input.idempotencyKey }],
  )
  if (keyed.length === 0) return
  const holders = yield* claimDedupe(context, keyed)
  for (const { id, key, idempotencyKey } of keyed) {
    const holder = holders.get(key)
    if (holder === undefined || holder === id) continue
    answers.set(id, { created: false, id: formatId('run', holder), because: 'dedupe-key' })
    if (idempotencyKey !== undefined) yield* one(pointIdempotencyKey, context.ns, idempotencyKey, holder)
  }
}

/**
 * Takes the keys that are free, and answers who has each. A holder may end between the two statements, so that its key is
 * nobody's by the time we look: then it is free, and we take it again.
 */
function* claimDedupe(
  context: StoreContext,
  keyed: readonly { readonly id: number; readonly key: string }[],
): Step<Map<string, number>> {
  const holders = new Map<string, number>()
  for (let looks = 1; looks <= looksMax; looks++) {
    const open = keyed.filter(({ key }) => !holders.has(key))
    if (open.length === 0) return holders
    yield* each(
      claimDedupeKeys,
      open.map(({ id, key }) => [context.ns, key, id]),
    )
    const names = JSON.stringify(open.map(({ key }) => key))
    const rows = yield* all<{ key: string; run_id: number }>(findDedupeKeys, context.ns, names)
    for (const row of rows) holders.set(row.key, row.run_id)
  }
  throw new BelfryError('conflict', `The holders of a dedupe key ended ${looksMax} times while we looked.`, {
    hint: 'Ask again.',
  })
}

function rowOf(
  context: StoreContext,
  { id, input, queue, needId, now }: { id: number; input: NewRun; queue: QueueRow; needId: number; now: number },
): RunRow {
  return {
    id,
    ns: context.ns,
    queueId: queue.id,
    needId,
    priority: input.priority ?? priorityDefault,
    enqueuedAt: now,
    scheduleId: null,
    occurrenceAt: null,
    dueAt: input.notBefore ?? now,
    source: 'enqueued',
    notBefore: input.notBefore ?? null,
    deadline: input.deadline ?? null,
    lateAfter: null,
    concurrencyKey: input.concurrencyKey ?? null,
    idempotencyKey: input.idempotencyKey ?? null,
    dedupeKey: input.dedupeKey ?? null,
    waitsFor: null,
    retryOf: null,
    repeatable: input.repeatable ?? true,
    onExhausted: input.onExhausted ?? null,
    policyVersion: queue.policyVersion,
    target: input.target == null ? null : jsonText(input.target, 'target'),
    payload: input.payload === undefined ? null : jsonText(input.payload, 'payload', payloadBytesMax),
    options: input.options === undefined ? null : jsonText(input.options, 'options'),
    decision: null,
  }
}
