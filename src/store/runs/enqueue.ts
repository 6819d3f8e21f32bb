import { formatId } from '../../core/id.ts'
import { defaultQueue } from '../../core/queue/policy.ts'
import { payloadBytesMax } from '../../core/run/payload.ts'
import { priorityDefault } from '../../core/run/work-fields.ts'
import { calendarsIn, type LaneOptions, laneNeed } from '../../core/target.ts'
import { useLane } from '../calendars/use-calendars.ts'
import {
  checkChoice,
  checkFields,
  checkInstant,
  checkInteger,
  checkText,
  invalid,
  jsonText,
  keepableText,
  keyLengthMax,
  nameLengthMax,
  priorityMax,
} from '../check.ts'
import type { Enqueued, NewRun, RunSource } from '../port.ts'
import { ensureQueues, type QueueRow } from '../queues/queue-row.ts'
import { all, both, clockNow, dialects, each, freshRunIds, metOthers, one, rowsOf, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { type AuditDetail, runsNamed } from '../verb.ts'
import { admit } from './admit.ts'
import { arePlain, type CheckedRun, enqueueAhead, enqueueAtOnce } from './enqueue-plain.ts'
import { type Candidate, refuseKnownKeys } from './idempotency.ts'
import { ensureNeeds, needName } from './lane-row.ts'
import { setAside } from './ready-aside.ts'
import { type RunRow, writeRuns } from './run-row.ts'

const looksMax = 10

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
const findDedupeKeys = both(
  'enqueue find dedupe',
  ({ texts }) => `select key, run_id from belfry.dedupe where ns = $1 and key ${texts('$2')}`,
)

/** Adds runs: an accepted run is in the store exactly once, whatever happens to its sender. */
export function* enqueue(context: StoreContext, inputs: readonly NewRun[]): Step<Enqueued[]> {
  const checked = inputs.map(checkRun)
  if (!arePlain(checked)) return yield* enqueueFully(context, checked)
  const ids = yield* freshRunIds(checked.length)
  const areTaken = yield* enqueueAtOnce(context, checked, ids, laneOf(checked))
  return areTaken ? takenIn(ids) : yield* enqueueFully(context, checked, { drawn: ids })
}

/** The audit line of enqueued work: the runs, and the first of their queues. */
export function runsMade(answers: readonly Enqueued[], queues: readonly string[] = []): AuditDetail {
  const created = answers.filter((answer) => answer.created)
  if (created.length === 0) return null
  const detail = runsNamed(created.map(({ id }) => id))
  return {
    ...(queues[0] !== undefined && { subject: `queue ${queues[0]}` }),
    detail: { ...detail, ...(queues.length > 1 && { queues }) },
  }
}

/** Enqueues one run from another source, inside the transaction of a larger step. */
export function* enqueueFrom(context: StoreContext, source: RunSource, input: NewRun): Step<Enqueued> {
  const [answer] = yield* enqueueFully(context, [checkRun(input, 0)], { source })
  return answer as Enqueued
}

/** Work from the queue of another program. */
export interface RunWithPast extends NewRun {
  /** Why it was parked in the other program; it is parked here too. */
  readonly parkedReason?: string
  /** How many attempts it used in the other program. */
  readonly attempts?: number
}

/**
 * Enqueues work from another program's queue, inside the transaction of a larger step; work that was parked there is parked
 * from the start. Its place in the other queue may change before it is imported again, but it stays the same work, so its key
 * is compared without priority and instant.
 */
export function* enqueueWithPast(context: StoreContext, inputs: readonly RunWithPast[]): Step<Enqueued[]> {
  const checked = inputs.map(({ parkedReason: _, attempts: __, ...input }, index) => checkRun(input, index))
  const pasts = inputs.map(({ parkedReason = null, attempts = 0 }, index) => {
    return { parkedReason, attempts: checkInteger(attempts, `runs[${index}].attempts`, 0, attemptsMax) }
  })
  // With `isLent` the enqueue neither ends the transaction nor locks gates in it.
  return yield* enqueueFully({ ...context, isLent: true }, checked, { pasts })
}

/**
 * Enqueues runs without keys or instants and returns a step for their answer: on PostgreSQL the next statement can be sent before
 * it. The answer is `null` if no run was enqueued, because their queue or lane does not exist yet.
 */
export function* enqueueBefore(context: StoreContext, inputs: readonly NewRun[]): Step<() => Step<Enqueued[] | null>> {
  const checked = inputs.map(checkRun)
  const ids = yield* freshRunIds(checked.length)
  const sent = yield* enqueueAhead(context, checked, ids, laneOf(checked))
  return function* () {
    const areTaken = (yield* rowsOf(sent)).length > 0
    return areTaken ? takenIn(ids) : null
  }
}

function laneOf([first]: readonly CheckedRun[]): { queue: string; priorityDefault: number } {
  return { queue: queueName(first?.input ?? {}), priorityDefault }
}

function takenIn(ids: readonly number[]): Enqueued[] {
  return ids.map((id) => ({ created: true, id: formatId('run', id) }))
}

interface Taking {
  /** The ids of the runs, if they already have ids. */
  readonly drawn?: readonly number[]
  readonly source?: RunRow['source']
  /** For imported work: why each run is parked, or `null`, and how many attempts it has used. */
  readonly pasts?: readonly { readonly parkedReason: string | null; readonly attempts: number }[]
}

const attemptsMax = 1_000_000

function* enqueueFully(
  context: StoreContext,
  checked: readonly CheckedRun[],
  { drawn, source = 'enqueued', pasts }: Taking = {},
): Step<Enqueued[]> {
  const inputs = checked.map(({ input }) => input)
  for (const { enqueues } of context.parts) if (enqueues !== undefined) yield* enqueues(context, inputs)
  const needs = checked.map(({ need }) => need)
  const { queues, created } = yield* ensureQueues(context, inputs.map(queueName))
  yield* useCalendars(context, inputs)
  const needIds = yield* ensureNeeds(context, needs)
  const now = yield* clockNow()
  const ids = drawn ?? (yield* freshRunIds(inputs.length))
  const candidates = inputs.map((input, index) => ({ id: ids[index] as number, input }))

  const answers = new Map<number, Enqueued>()
  yield* refuseKnownKeys(context, candidates, { now, hasPast: pasts !== undefined }, answers)
  yield* refuseLiveDuplicates(
    context,
    candidates.filter(({ id }) => !answers.has(id)),
    answers,
  )

  const accepted: { row: RunRow; queue: QueueRow; reason: string | null; attempts: number }[] = []
  for (const [index, { id, input }] of candidates.entries()) {
    if (answers.has(id)) continue
    const queue = queues.get(queueName(input)) as QueueRow
    const needId = needIds.get(needName(needs[index] ?? null)) as number
    const { texts } = checked[index] as CheckedRun
    const row = rowOf(context, { id, input, texts, queue, needId, now, source })
    const { parkedReason: reason = null, attempts = 0 } = pasts?.[index] ?? {}
    accepted.push({ queue, row, reason, attempts })
    answers.set(id, { created: true, id: formatId('run', id), ...(created.has(queue.name) && { queueCreated: true }) })
  }
  yield* writeRuns(
    accepted.map(({ row }) => row),
    { context, now, over: 'refused' },
  )
  yield* admit(
    now,
    accepted
      .filter(({ reason }) => reason === null)
      .map(({ row, queue, attempts }) => ({
        ...arrivalOf(row, attempts),
        keyLimit: queue.policy?.maxConcurrentPerKey ?? null,
        passesGates: context.isLent === true,
      })),
  )
  yield* setAside(
    accepted.flatMap(({ row, reason, attempts }) => {
      if (reason === null) return []
      return [
        { standing: arrivalOf(row, attempts).standing, kind: 'parked', at: now, reason: keepableText(reason) },
      ] as const
    }),
  )
  return ids.map((id) => answers.get(id) as Enqueued)
}

function* useCalendars(context: StoreContext, inputs: readonly NewRun[]): Step<void> {
  const seen = new Set<string>()
  for (const [index, { options }] of inputs.entries()) {
    const calendars = calendarsIn(options)
    if (calendars.length === 0 || seen.has(calendars.join(','))) continue
    seen.add(calendars.join(','))
    yield* useLane(context, calendars, `runs[${index}].calendar`)
  }
}

/** A new run with all counts at zero; only imported work may have used attempts. */
export function arrivalOf(row: RunRow, attempts = 0) {
  const standing = {
    runId: row.id,
    ns: row.ns,
    queueId: row.queueId,
    needId: row.needId,
    priority: row.priority,
    enqueuedAt: row.enqueuedAt,
    key: row.concurrencyKey,
    fence: 0,
    attempts,
    releases: 0,
    deaths: 0,
  }
  const eligible = row.notBefore === null ? null : { at: row.notBefore, reason: 'not-before' }
  return { standing, eligible, kept: null }
}

function queueName({ queue = defaultQueue }: NewRun): string {
  return queue
}

const runFields: ReadonlySet<string> = new Set<keyof NewRun>([
  'queue',
  'target',
  'payload',
  'priority',
  'notBefore',
  'deadline',
  'concurrencyKey',
  'idempotencyKey',
  'dedupeKey',
  'repeatable',
  'onExhausted',
  'options',
])

function checkRun(input: NewRun, index: number): CheckedRun {
  const where = (field: string) => `runs[${index}].${field}`
  checkFields(input, `runs[${index}]`, runFields)
  const { target = null, payload, options } = input
  const texts = {
    target: target === null ? null : recordText(target, where('target')),
    payload: payload === undefined ? null : jsonText(payload, where('payload'), payloadBytesMax),
    options: options === undefined ? null : recordText(options, where('options')),
  }
  const answer = laneNeed(target, options as LaneOptions | undefined)
  if ('problem' in answer) throw invalid(where('target'), answer.problem, 'an object with exactly one kind of target')
  checkParts(input, where)
  return { input, need: answer.need, texts }
}

function recordText(value: unknown, where: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(where, `is ${value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value}`, 'an object')
  }
  return jsonText(value, where, payloadBytesMax)
}

function checkParts(input: NewRun, where: (field: string) => string): void {
  if (input.queue !== undefined) checkText(input.queue, where('queue'), nameLengthMax)
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
  if (input.repeatable !== undefined && typeof input.repeatable !== 'boolean') {
    throw invalid(
      where('repeatable'),
      `is ${input.repeatable === null ? 'null' : typeof input.repeatable}`,
      'true or false',
    )
  }
  if (input.onExhausted !== undefined) checkChoice(input.onExhausted, where('onExhausted'), ['park', 'fail'])
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
 * Takes the free keys, and returns the holder of each. A holder may end between the two statements. Then its key is free at
 * the time of the read, and is taken again.
 */
export function* claimDedupe(
  { ns }: StoreContext,
  keyed: readonly { readonly id: number; readonly key: string }[],
): Step<Map<string, number>> {
  const holders = new Map<string, number>()
  for (let looks = 1; looks <= looksMax; looks++) {
    const open = keyed.filter(({ key }) => !holders.has(key))
    if (open.length === 0) return holders
    yield* each(
      claimDedupeKeys,
      open.map(({ id, key }) => [ns, key, id]),
    )
    const names = JSON.stringify(open.map(({ key }) => key))
    const rows = yield* all<{ key: string; run_id: number }>(findDedupeKeys, ns, names)
    for (const row of rows) holders.set(row.key, row.run_id)
  }
  throw metOthers(`The holders of a dedupe key ended ${looksMax} times during the request.`)
}

interface Accepted extends Candidate, Pick<CheckedRun, 'texts'> {
  readonly queue: QueueRow
  readonly needId: number
  readonly now: number
  readonly source: RunRow['source']
}

function rowOf(context: StoreContext, { id, input, texts, queue, needId, now, source }: Accepted): RunRow {
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
    source,
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
    ...texts,
    decision: null,
  }
}
