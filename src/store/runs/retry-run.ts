import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import { priorityDefault } from '../../core/run/work-fields.ts'
import { type LaneOptions, laneNeed } from '../../core/target.ts'
import { jsonText } from '../check.ts'
import { runIdOf } from '../leases/settle.ts'
import type { DoneWork, RetryAnswer, RunSource } from '../port.ts'
import { bringQueueBack, readPolicy } from '../queues/queue-row.ts'
import type { ScheduleRow } from '../schedules/schedule-row.ts'
import { both, clockNow, freshIds, one, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RowOf } from '../table-codec.ts'
import { columnsOf, tables } from '../tables.ts'
import type { About } from '../verb.ts'
import { admit } from './admit.ts'
import { arrivalOf, claimDedupe } from './enqueue.ts'
import { ensureNeeds, needName } from './lane-row.ts'
import { joinSchedule, lockScheduleOf, resetParked } from './reset-run.ts'
import { runOutlines } from './run-outline.ts'
import { type RunRow, writeRuns } from './run-row.ts'

const findDefinition = both('retry find definition', `select ${columnsOf('run')} from belfry.run where id = $1`)
/** The end is found by its run; see `findEnds` in `reads/find-run.ts`. */
const findEnd = both(
  'retry find end',
  `select ends, reason from belfry.attempt where run_id = $1 and coalesce(ends, '') <> ''`,
)
const findQueue = both('retry find queue', 'select policy, policy_version, deleted_at from belfry.queue where id = $1')

/** The target, payload and queue of a retry: those of the first run, or the current ones of its schedule. */
const work = tables.run.only(
  ...(['queueId', 'needId', 'priority', 'concurrencyKey', 'repeatable', 'onExhausted'] as const),
  ...(['target', 'payload', 'options'] as const),
)
type Work = RowOf<typeof work>

/**
 * Makes a new run of an ended one, and resets a parked one. The new run has no occurrence and does not move its schedule; it has
 * no idempotency key, because that key belongs to the first run. A person may want to repeat work that is not repeatable, so the
 * work runs again; the answer says that it was already done, because after a cancel request most people assume that it was not.
 */
export function* retryRun(
  context: StoreContext,
  runId: string,
  { latest = false }: { latest?: boolean } = {},
): Step<RetryAnswer> {
  const id = runIdOf({ runId })
  const place = (yield* runOutlines(context, [id])).get(id)
  if (place === undefined) return { answer: 'not-found' }
  if (latest && place.scheduleId === null) throw withoutSchedule(runId)
  const schedule = yield* lockScheduleOf(place)
  if (yield* resetParked(place, schedule)) return { answer: 'reset', id: runId }
  const definition = yield* one(findDefinition, id)
  const end = yield* one(findEnd, id)
  if (definition === undefined || end === undefined) return { answer: 'still-live' }
  const first: First = { definition, end }
  if (!latest) return yield* makeRun(context, first, work.read(definition), schedule)
  if (schedule === null || schedule.deletedAt !== null) return { answer: 'schedule-gone' }
  return yield* makeRun(context, first, yield* latestWork(context, schedule), schedule)
}
retryRun.audits = (answer: RetryAnswer, [id]: About) =>
  'id' in answer && answer.answer !== 'dedupe-key' ? { detail: { answer }, subject: `run ${id}` } : null

/** The run that is retried, and how it ended. */
interface First {
  readonly definition: Row
  readonly end: Row
}

function doneIn({ definition, end }: First): DoneWork | undefined {
  if (definition.repeatable === 1 || end.ends !== 'completed') return undefined
  return end.reason === 'late-cancel' ? 'late-cancel' : 'completed'
}

function* makeRun(context: StoreContext, retried: First, work: Work, schedule: ScheduleRow | null): Step<RetryAnswer> {
  const { definition: first } = retried
  const alreadyDone = doneIn(retried)
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const dedupeKey = first.dedupe_key as string | null
  const holder = dedupeKey === null ? id : (yield* claimDedupe(context, [{ id, key: dedupeKey }])).get(dedupeKey)
  if (holder !== undefined && holder !== id) return { answer: 'dedupe-key', id: formatId('run', holder) }
  const queue = (yield* one(findQueue, work.queueId)) as Row
  if (queue.deleted_at !== null) yield* bringQueueBack(work.queueId)
  const joined = yield* joinSchedule(now, { ns: context.ns, runId: id, enqueuedAt: now }, schedule)
  const row: RunRow = {
    ...work,
    id,
    ns: context.ns,
    enqueuedAt: now,
    scheduleId: first.schedule_id as number | null,
    occurrenceAt: null,
    dueAt: ahead(first.not_before, now) ?? standsFor(first) ?? now,
    source: sourceOfRetry(context, first.source as RunSource),
    // Instants in the past do not apply to the new run; those in the future do.
    notBefore: ahead(first.not_before, now),
    deadline: ahead(first.deadline, now),
    lateAfter: null,
    idempotencyKey: null,
    dedupeKey,
    waitsFor: joined.behind,
    retryOf: first.id as number,
    policyVersion: queue.policy_version as number,
    decision: null,
  }
  yield* writeRuns([row], { context, now, over: 'refused' })
  const keyLimit = readPolicy(queue.policy as string)?.maxConcurrentPerKey ?? null
  const arrival = arrivalOf(row)
  yield* admit(now, [{ ...arrival, eligible: arrival.eligible ?? joined.eligible, kept: joined.kept, keyLimit }])
  return { answer: 'created', id: formatId('run', id), ...(alreadyDone !== undefined && { alreadyDone }) }
}

function sourceOfRetry({ parts }: StoreContext, first: RunSource): RunSource {
  return parts.some(({ sourcesKept = [] }) => sourcesKept.includes(first)) ? first : 'retry'
}

/** The past instant for which a run was made; the retry is made for the same instant. */
function standsFor({ occurrence_at: occurrenceAt, due_at: dueAt, enqueued_at: enqueuedAt }: Row): number | null {
  const isOver = occurrenceAt === null && (dueAt as number) < (enqueuedAt as number)
  return isOver ? (dueAt as number) : null
}

function ahead(instant: Row[string] | undefined, now: number): number | null {
  return typeof instant === 'number' && instant > now ? instant : null
}

function* latestWork(context: StoreContext, { spec, queueId }: ScheduleRow): Step<Work> {
  const answer = laneNeed(spec.target, spec.options as LaneOptions | undefined)
  if ('problem' in answer) throw new BelfryError('failure', `The target of schedule ${spec.name} ${answer.problem}.`)
  const needIds = yield* ensureNeeds(context, [answer.need])
  return {
    queueId,
    needId: needIds.get(needName(answer.need)) as number,
    priority: spec.priority ?? priorityDefault,
    concurrencyKey: spec.concurrencyKey ?? null,
    repeatable: spec.repeatable ?? true,
    onExhausted: spec.onExhausted ?? null,
    target: spec.target == null ? null : jsonText(spec.target, 'target'),
    payload: spec.payload === undefined ? null : jsonText(spec.payload, 'payload'),
    options: spec.options === undefined ? null : jsonText(spec.options, 'options'),
  }
}

function withoutSchedule(runId: string): BelfryError {
  return new BelfryError(
    'invalid',
    `Run ${runId} was enqueued directly, so it has no schedule with a latest version.`,
    {
      hint: 'Retry it as it was, or enqueue the work again.',
    },
  )
}
