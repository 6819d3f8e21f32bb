import { formatMoney } from '../../core/budget/money.ts'
import { formatId } from '../../core/id.ts'
import { isRecord } from '../../core/json/record.ts'
import { noopReason } from '../../core/run/verdict.ts'
import { priorityDefault } from '../../core/run/work-fields.ts'
import type { Target } from '../../core/target.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { keepableText } from '../../store/check.ts'
import type { Ends, MovedSchedule, RunEnd } from '../../store/runs/end-hooks.ts'
import { arrivalOf } from '../../store/runs/enqueue.ts'
import { putInLine } from '../../store/runs/ready-aside.ts'
import { type RunRow, writeRuns } from '../../store/runs/run-row.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { dialects, each, freshIds, type Row, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { mergedNotices } from './merged-notices.ts'
import {
  answerText,
  lastLines,
  type Notice,
  type Notify,
  noticeDecision,
  noticeOf,
  noticeTarget,
  overdueDecision,
  recoveryDecision,
  troubles,
} from './notice.ts'
import { events, type NoticeEvent } from './notice-events.ts'
import { NoticeBook, type NoticeKey, type NoticeSubject } from './notice-row.ts'
import { ensureNoticeLanes, laneOf, type NoticeLanes, parsedPolicy, readNotify, receiversIn } from './notify-setting.ts'
import { heldBack } from './quiet-hours.ts'

/** What something happened to, and the settings that may name its receivers, the nearest first. */
export interface NoticeOrigin {
  readonly namespace: string
  readonly queue: string | null
  readonly levels: readonly (Notify | null | undefined)[]
  /** The calendars in whose hours it is held back. */
  readonly quiet: readonly string[]
}

/** An event that a receiver may want. */
export interface Happening
  extends NoticeKey,
    NoticeOrigin,
    Pick<Notice, 'about' | 'happened' | 'answer' | 'cost' | 'durationMs' | 'question'> {
  readonly schedule: string | null
  readonly runId: number | null
  readonly attempt: number | null
  readonly reason: string
  readonly failuresInARow: number | null
  /** Whether a person requested it as a test. */
  readonly isTest?: true
  /** Whether it counts as held back where it is not sent. An event that is found again and again is not counted. */
  readonly isCounted: boolean
}

/** Whether quiet hours do not count for it. */
function isUrgent(stored: unknown): boolean {
  return isRecord(stored) && stored.urgent === true
}

export const placesColumns = `q.name as queue, q.policy as queue_policy, n.name as namespace, n.notify as namespace_notify`
const ofRun = `select d.id, d.queue_id, d.source, ${placesColumns} from belfry.run d join belfry.queue q on q.id = d.queue_id
  join belfry.namespace n on n.id = d.ns where d.id`
const findPlaces = dialects('notice find places', {
  sqlite: `${ofRun} = $1`,
  postgres: `${ofRun} = any ($1::bigint[])`,
})
const ofSchedule = `select s.id, ${placesColumns} from belfry.schedule s join belfry.queue q on q.id = s.queue_id
  join belfry.namespace n on n.id = s.ns where s.id`
const findPlacesOfSchedules = dialects('notice find places of schedules', {
  sqlite: `${ofSchedule} = $1`,
  postgres: `${ofSchedule} = any ($1::bigint[])`,
})

/**
 * Enqueues notices of ends, in the transaction that ended the runs. Only a failure, a park, a recovery, denied tools and an answer that
 * its schedule sends look for receivers, so that a run that ends well costs nothing here.
 */
export function* notifyEnds(context: StoreContext, { now, ends, schedules }: Ends<MovedSchedule>): Step<void> {
  const notable = notableOf(ends, schedules)
  if (notable.length === 0) return
  const rows = yield* each(
    findPlaces,
    notable.map(({ end }) => [end.runId]),
  )
  const places = new Map(rows.map((row) => [row.id as number, row]))
  yield* sendNotices(
    context,
    now,
    notable.flatMap((one) => {
      const row = places.get(one.end.runId)
      // The end of a notice sends no notice: a receiver that is down would be sent notices of that for ever.
      if (row === undefined || row.source === 'notice') return []
      // The end of a run by hand says nothing of the schedule's own runs, and does not count for it.
      if ((row.source === 'run-now' || row.source === 'test') && one.event === 'failure') return []
      return [happeningOf(now, one, row, schedules.get(one.end.scheduleId ?? 0))]
    }),
  )
}
notifyEnds.skipsPlain = true as const

/** An end that a receiver may want, and how many occurrences of its schedule had failed in a row by then. */
interface Notable {
  readonly end: RunEnd
  readonly event: NoticeEvent
  readonly failuresInARow: number | null
}

/**
 * The ends of several runs of a schedule in one step are judged one after the other, as if each had ended by itself: a failure
 * and a success are a failure and a recovery.
 */
function notableOf(ends: readonly RunEnd[], schedules: ReadonlyMap<number, MovedSchedule>): Notable[] {
  const inARow = new Map([...schedules].map(([id, { before }]) => [id, before.failureCount]))
  return ends.flatMap((end): Notable[] => {
    const { status, scheduleId, runId } = end
    const id = scheduleId ?? 0
    const was = inARow.get(id) ?? 0
    const is = schedules.get(id)?.failures.get(runId) ?? was
    inARow.set(id, is)
    const failuresInARow = schedules.has(id) ? is : null
    const denied = deniedTools(end.result).length > 0 ? [{ end, event: 'permission', failuresInARow } as const] : []
    if (status === 'failed') return [...denied, { end, event: 'failure', failuresInARow }]
    if (status === 'parked') return [...denied, { end, event: 'park', failuresInARow }]
    const recovered = was > 0 && is === 0 ? [{ end, event: 'recover', failuresInARow: was } as const] : []
    const isAnswer = status === 'completed' && end.reason !== noopReason
    const sends = isAnswer && schedules.get(id)?.before.spec?.onComplete !== undefined
    return [...denied, ...recovered, ...(sends ? [{ end, event: 'complete', failuresInARow } as const] : [])]
  })
}

/** The tools that an agent was denied, as its result names them. */
function deniedTools(result: unknown): readonly unknown[] {
  const { denials } = (isRecord(result) ? result : {}) as { readonly denials?: unknown }
  return Array.isArray(denials) ? denials : []
}

function reasonOf({ reason, result }: RunEnd, event: NoticeEvent): string {
  if (event === 'recover' || event === 'complete') return 'completed'
  return keepableText(event === 'permission' ? `denied: ${deniedTools(result).join(', ')}` : reason)
}

/** The fields of a notice that come from the answer of a run. */
function answerOf(now: number, { result, usage, startedAt }: RunEnd): Pick<Notice, 'answer' | 'cost' | 'durationMs'> {
  const answer = answerText(result)
  return {
    answer: answer === null ? null : keepableText(answer),
    cost: usage?.money === undefined ? null : formatMoney(usage.money),
    durationMs: startedAt == null ? null : Math.max(0, now - startedAt),
  }
}

function happeningOf(
  now: number,
  { end, event, failuresInARow }: Notable,
  row: Row,
  moved: MovedSchedule | undefined,
): Happening {
  const { ns, scheduleId, runId, fence } = end
  const subject: NoticeSubject =
    scheduleId === null
      ? { ns, subject: 'queue', subjectId: row.queue_id as number }
      : { ns, subject: 'schedule', subjectId: scheduleId }
  return {
    ...subject,
    ...placeOf(row, moved?.before.spec),
    event,
    schedule: moved?.before.name ?? null,
    runId,
    attempt: fence === 0 ? null : fence,
    reason: reasonOf(end, event),
    ...((event === 'complete' || event === 'permission') && answerOf(now, end)),
    failuresInARow,
    isCounted: true,
  }
}

/** The queue and the notification settings of schedules, by their ids. */
export function* placesOfSchedules(schedules: readonly ScheduleRow[]): Step<Map<number, NoticeOrigin>> {
  const rows = yield* each(
    findPlacesOfSchedules,
    schedules.map(({ id }) => [id]),
  )
  const specOf = new Map(schedules.map(({ id, spec }) => [id, spec]))
  return new Map(rows.map((row) => [row.id as number, placeOf(row, specOf.get(row.id as number))]))
}

export function placeOf(row: Row, spec: unknown): NoticeOrigin {
  const policy = parsedPolicy(row.queue_policy)
  const ofNamespace = readNotify(row.namespace_notify)
  return {
    namespace: row.namespace as string,
    queue: row.queue as string,
    levels: [receiversIn(spec), receiversIn(policy), ofNamespace],
    quiet: isUrgent(spec) || isUrgent(policy) ? [] : (ofNamespace?.quiet ?? []),
  }
}

/** A notice with its receiver. */
export interface ChosenNotice {
  readonly of: Omit<Happening, 'event'> & Pick<Notice, 'event'>
  readonly target: Target
  readonly suppressed: number
}

/** Enqueues a run for each notice that has a receiver and is not held back; returns their ids. */
export function* sendNotices(context: StoreContext, now: number, happenings: readonly Happening[]): Step<string[]> {
  const wanted = happenings.filter(isWanted)
  if (wanted.length === 0) return []
  const book = yield* NoticeBook.open(wanted.flatMap(keysOf))
  const told = wanted.flatMap((one) => (one.event === 'recover' ? recovery(now, book, one) : trouble(now, book, one)))
  yield* book.save()
  return yield* enqueueNotices(context, now, mergedNotices(yield* heldBack(context, now, told)))
}

/** A recovery closes the trouble that was notified, even if no receiver is left. */
function isWanted({ event, levels, isCounted }: Happening): boolean {
  if (event !== 'recover') return noticeTarget(event, levels) !== null
  return !isCounted || levels.some((level) => Object.keys(level ?? {}).length > 0)
}

function keysOf({ ns, subject, subjectId, event }: NoticeKey): NoticeKey[] {
  const events = event === 'recover' ? [...troubles, event] : [event]
  return events.map((one) => ({ ns, subject, subjectId, event: one }))
}

function trouble(now: number, book: NoticeBook, one: Happening): ChosenNotice[] {
  const target = noticeTarget(one.event, one.levels)
  const memory = book.get(one)
  const decision =
    one.event === 'overdue'
      ? overdueDecision({ now, memory })
      : noticeDecision({ now, memory, opens: canRecover(one), isEach: events[one.event].isEach === true })
  if (target === null || decision === null) return []
  book.set(one, decision.after)
  return decision.isTold ? [{ of: one, target, suppressed: decision.suppressed }] : []
}

/** A run by hand fails by itself: it counts as no failure of its schedule, so there is nothing to recover from. */
function canRecover({ failuresInARow }: Happening): boolean {
  return (failuresInARow ?? 0) > 0
}

function recovery(now: number, book: NoticeBook, one: Happening): ChosenNotice[] {
  const target = noticeTarget('recover', one.levels)
  const memory = book.get(one)
  const keys = troubles.map((event): NoticeKey => ({ ...one, event }))
  const known = keys.map((key) => book.get(key))
  const decision = recoveryDecision({ now, memory, troubles: known, isWanted: target !== null })
  if (decision === null) {
    if (one.isCounted) book.set(one, { ...memory, suppressed: memory.suppressed + 1 })
    return []
  }
  book.set(one, decision.after)
  for (const [index, after] of decision.troublesAfter.entries()) book.set(keys[index] as NoticeKey, after)
  return target === null ? [] : [{ of: one, target, suppressed: decision.suppressed }]
}

const newestRows = 'order by o.seq desc limit 2'
/** The newest rows of an output. A row has room for more than a notice shows, and the newest may just have been begun. */
const findOutputs = dialects('notice find outputs', {
  sqlite: `select o.run_id, o.seq, o.body from belfry.output o where o.run_id = $1 and o.fence = $2 ${newestRows}`,
  postgres: `select i.run_id, o.seq, o.body from unnest($1::bigint[], $2::int[]) as i (run_id, fence)
    cross join lateral (
      select o.seq, o.body from belfry.output o where o.run_id = i.run_id and o.fence = i.fence ${newestRows}
    ) o`,
})

/** The last lines of output of the attempts that notices are about, by run. */
function* outputsOf(told: readonly ChosenNotice[]): Step<Map<number, string | null>> {
  // One end may have several notices, such as of a failure and of denied tools: each attempt is read once, or its lines would double.
  const attempts = new Map<string, readonly [number, number]>()
  for (const { event, runId, attempt } of told.map(({ of }) => of)) {
    if (event === 'recover' || event === 'complete' || runId === null || attempt === null) continue
    attempts.set(`${runId} ${attempt}`, [runId, attempt])
  }
  if (attempts.size === 0) return new Map()
  const rows = yield* each<{ run_id: number; seq: number; body: string }>(findOutputs, [...attempts.values()])
  const texts = new Map<number, string>()
  for (const { run_id: runId, body } of rows.toSorted((a, b) => a.seq - b.seq)) {
    texts.set(runId, `${texts.get(runId) ?? ''}${body}`)
  }
  return new Map([...texts].map(([runId, text]) => [runId, lastLines(text)]))
}

/** No gate and no queue's row is locked for them: their runs have no key, and stand in line like any other work. */
export function* enqueueNotices(context: StoreContext, now: number, told: readonly ChosenNotice[]): Step<string[]> {
  const ids = yield* freshIds(told.length)
  const outputs = yield* outputsOf(told)
  const rows: RunRow[] = []
  for (const ns of new Set(told.map(({ of }) => of.ns))) {
    const own = told.filter(({ of }) => of.ns === ns)
    const lanes = yield* ensureNoticeLanes(
      { ...context, ns },
      own.map(({ target }) => target),
    )
    for (const one of own) {
      const output = outputs.get(one.of.runId ?? 0) ?? null
      rows.push(runOf(now, ids[rows.length] as number, { ...one, output }, lanes))
    }
  }
  yield* writeRuns(rows)
  yield* putInLine(rows.map((row) => arrivalOf(row).standing))
  return rows.map(({ id }) => formatId('run', id))
}

function runOf(
  now: number,
  id: number,
  { of, target, suppressed, output }: ChosenNotice & { readonly output: string | null },
  lanes: NoticeLanes,
): RunRow {
  const { event, namespace, schedule, runId, attempt, reason, failuresInARow, isTest = false } = of
  const queue = lanes.queueOf(target)
  const run = runId === null ? null : formatId('run', runId)
  const at = new Date(now).toISOString()
  const counted = { failuresInARow, suppressed, output, test: isTest }
  const { about, happened, answer, cost, durationMs, question } = of
  const known = onlyGiven({ about, happened, answer, cost, durationMs, question })
  const facts = { event, at, namespace, schedule, queue: of.queue, run, attempt, reason, ...counted, ...known }
  return {
    id,
    ns: of.ns,
    queueId: queue.id,
    needId: laneOf(lanes, target, event),
    priority: priorityDefault,
    enqueuedAt: now,
    scheduleId: null,
    occurrenceAt: null,
    dueAt: now,
    source: 'notice',
    notBefore: null,
    deadline: null,
    lateAfter: null,
    concurrencyKey: null,
    idempotencyKey: null,
    dedupeKey: null,
    waitsFor: null,
    retryOf: null,
    repeatable: true,
    onExhausted: 'fail',
    policyVersion: queue.policyVersion,
    target: JSON.stringify(target),
    payload: JSON.stringify(noticeOf(facts)),
    options: null,
    decision: null,
  }
}
