import { periodAt, type Stretch } from '../../../core/budget/period.ts'
import { cron } from '../../../core/cron/cron.ts'
import { formatDuration } from '../../../core/duration.ts'
import { BelfryError } from '../../../core/error.ts'
import type { HoldReason } from '../../../core/hold-reason.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { invalid } from '../../../store/check.ts'
import { liftHold } from '../../../store/holds/lift-hold.ts'
import { putHold } from '../../../store/holds/put-hold.ts'
import type { RunRoom } from '../../../store/runs/run-quota.ts'
import { both, clockNow, dialects, one, type Row, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** What a namespace may have; what is absent is not limited. `tokensPerMonth` is a budget of the namespace. */
export interface QuotaSpec {
  /** The time zone of its months. */
  readonly zone: string
  readonly schedulesMax?: number
  readonly everyMinMs?: number
  readonly runsPerMonth?: number
}

export interface Quota {
  /** The name of the namespace. */
  readonly namespace: string
  readonly spec: QuotaSpec
  /** The hold that it has put, and the beginning of the month that the hold is for. */
  readonly holdId: string | null
  readonly heldFrom: number | null
}

const found = `select n.name as namespace, q.spec, q.hold_id, q.held_from from belfry.quota q
  join belfry.namespace n on n.id = q.ns where q.ns = $1`
const findQuotaOf = both('quota find', found)
const lockQuotaOf = dialects('quota lock', { sqlite: found, postgres: `${found} for no key update of q` })
const findCount = both('quota find count', 'select made from belfry.run_count where ns = $1 and from_at = $2')
const raiseCount = both(
  'quota raise count',
  `insert into belfry.run_count (ns, from_at, made) values ($1, $2, $3)
    on conflict (ns, from_at) do update set made = run_count.made + excluded.made returning made`,
)
/** More runs than these are not counted: the count must not hold up the namespace for long. */
const storedMax = 1_000_000
const storedSince = (which: string) =>
  `(select count(*) from (select 1 from belfry.run where ns = $1 and enqueued_at >= $2 and schedule_id is ${which} limit ${storedMax}) c)`
const countStored = both(
  'quota count stored runs',
  `select ${storedSince('null')} + ${storedSince('not null')} as made`,
)
const beginCount = both(
  'quota begin count',
  `insert into belfry.run_count (ns, from_at, made) values ($1, $2, $3) on conflict (ns, from_at) do update
    set made = case when excluded.made > run_count.made then excluded.made else run_count.made end`,
)
const saveHold = both('quota save hold', 'update belfry.quota set hold_id = $2, held_from = $3 where ns = $1')
/** A finished schedule keeps its row for its history. */
const countSchedules = both(
  'quota count schedules',
  `select (select count(*) from belfry.schedule where ns = $1 and deleted_at is null and is_done = 0 and name <> $2) as others,
    (select 1 from belfry.schedule where ns = $1 and deleted_at is null and name = $2 limit 1) as before`,
)

const author = 'quota'

/** The runs of a month are used up. Runs that exist start; no further ones are made. */
export const quotaReason: HoldReason = {
  code: 'quota',
  firing: 'skips',
  says: 'The namespace has made all runs of its month: occurrences end as skipped, and nothing can be enqueued.',
  unblocks: 'The next month, or a higher `runsPerMonth` by `belfry namespace set`.',
  skipped: 'the namespace had no runs left in the month',
  sentence: ({ note }) => note ?? 'The namespace has made all runs of its month.',
  lift: ({ by }) => ({
    what: 'Raise the quota of the namespace.',
    words: ['namespace', 'set', by.slice(author.length + 1), '--runs-per-month', 'N'],
  }),
}

export function* findQuota(ns: number): Step<Quota | null> {
  return quotaOf(yield* one(findQuotaOf, ns))
}

function* lockQuota({ ns }: StoreContext): Step<Quota | null> {
  return quotaOf(yield* one(lockQuotaOf, ns))
}

function quotaOf(row: Row | undefined): Quota | null {
  if (row === undefined) return null
  return {
    namespace: row.namespace as string,
    spec: JSON.parse(row.spec as string) as QuotaSpec,
    holdId: row.hold_id as string | null,
    heldFrom: row.held_from as number | null,
  }
}

export function monthAt({ zone }: QuotaSpec, now: number): Stretch {
  return periodAt({ per: 'month', zone, at: now }) as Stretch
}

/** How many runs a namespace has made in a month. */
export function* runsMade(ns: number, { from }: Stretch): Step<number> {
  return Number((yield* one<{ made: number }>(findCount, ns, from))?.made ?? 0)
}

/** How many runs the namespace may still make in this month. The quota stays locked, so that no other step makes them. */
export function* runsLeft(context: StoreContext, now: number): Step<RunRoom | null> {
  const quota = yield* lockQuota(context)
  const max = quota?.spec.runsPerMonth
  if (quota === null || max === undefined) return null
  const month = monthAt(quota.spec, now)
  const made = yield* runsMade(context.ns, month)
  return { left: Math.max(0, max - made), outcome: quotaReason.code, until: month.until }
}

/**
 * Counts runs that were made. The step that makes the last run of a month puts the hold that keeps occurrences from becoming
 * runs. Deletes do not lower the count.
 */
export function* countMade(context: StoreContext, now: number, runs: number): Step<BelfryError | null> {
  const quota = yield* lockQuota(context)
  const max = quota?.spec.runsPerMonth
  if (quota === null || max === undefined) return null
  const month = monthAt(quota.spec, now)
  const row = yield* one<{ made: number }>(raiseCount, context.ns, month.from, runs)
  const made = Number(row?.made ?? runs)
  if (made >= max) yield* holdOccurrences(context, quota, month)
  return made > max ? usedUp(quota, { made: made - runs, runs, max, month, now }) : null
}

/**
 * Begins to count with the runs of this month that are stored. Runs that were deleted before there was a quota are not among
 * them.
 */
export function* countFromNow(context: StoreContext, quota: Quota, now: number): Step<void> {
  const { from } = monthAt(quota.spec, now)
  const row = yield* one<{ made: number }>(countStored, context.ns, from)
  yield* run(beginCount, context.ns, from, Number(row?.made ?? 0))
}

/** Puts or lifts the hold of a quota by its current state. */
export function* turnQuota(context: StoreContext, quota: Quota, now: number): Step<void> {
  const month = monthAt(quota.spec, now)
  const { runsPerMonth } = quota.spec
  const isUsedUp = runsPerMonth !== undefined && (yield* runsMade(context.ns, month)) >= runsPerMonth
  if (quota.holdId !== null) yield* liftHold(context, quota.holdId, { actor: actorOf(quota) })
  yield* run(saveHold, context.ns, null, null)
  if (isUsedUp) yield* holdOccurrences(context, { ...quota, heldFrom: null }, month)
}

function actorOf({ namespace }: Quota) {
  return { name: `${author} ${namespace}`, door: author }
}

/** The hold of an older month has ended by itself. */
function* holdOccurrences(context: StoreContext, quota: Quota, { from, until }: Stretch): Step<void> {
  if (quota.heldFrom === from) return
  const note = `The namespace has made the ${quota.spec.runsPerMonth} runs of its month.`
  const wanted = { scope: 'occurrences', subject: '', until, reason: quotaReason, note, actor: actorOf(quota) } as const
  const put = yield* putHold(context, wanted)
  if (put.answer === 'put') yield* run(saveHold, context.ns, put.hold.id, from)
}

interface UsedUp {
  readonly made: number
  readonly runs: number
  readonly max: number
  readonly month: Stretch
  readonly now: number
}

function usedUp({ namespace }: Quota, { made, runs, max, month, now }: UsedUp): BelfryError {
  const wanted = runs === 1 ? 'another run' : `${runs} more runs`
  return new BelfryError(
    'quota',
    `Namespace ${namespace} has made ${made} of the ${max} runs of its month, and cannot make ${wanted}.`,
    {
      hint: `The next month begins at ${new Date(month.until).toISOString()}. To raise the quota: \`belfry namespace set ${namespace} --runs-per-month N\`.`,
      details: {
        runsPerMonth: max,
        made,
        resetAt: new Date(month.until).toISOString(),
        retryAfterMs: month.until - now,
      },
    },
  )
}

/** Refuses a schedule beyond what its namespace may have, in the transaction that writes it. */
export function* refuseBeyondQuota(context: StoreContext, said: object): Step<void> {
  if (!('timing' in said)) return
  const quota = yield* findQuota(context.ns)
  if (quota === null) return
  const { schedulesMax, everyMinMs } = quota.spec
  const { name } = said as ScheduleSpec
  if (everyMinMs !== undefined) refuseTooOften(said as ScheduleSpec, everyMinMs, yield* clockNow())
  if (schedulesMax === undefined || (yield* schedulesNow(context, name))?.before !== null) return
  // Of two new schedules the second waits for the first, and counts it.
  yield* lockQuota(context)
  const counts = yield* schedulesNow(context, name)
  if (counts === undefined || Number(counts.others) < schedulesMax) return
  const message = `Namespace ${quota.namespace} has ${counts.others} of ${schedulesMax} schedules, and cannot have another.`
  throw new BelfryError('quota', message, {
    hint: `Delete one, or raise the quota: \`belfry namespace set ${quota.namespace}\`.`,
    details: { schedulesMax },
  })
}

function* schedulesNow(
  { ns }: StoreContext,
  name: string,
): Step<{ others: number; before: number | null } | undefined> {
  return yield* one(countSchedules, ns, name)
}

/** The least time between two occurrences of a schedule. */
export function* everyMinIn({ ns }: StoreContext): Step<number | null> {
  return (yield* findQuota(ns))?.spec.everyMinMs ?? null
}

/** How many successive instants of a cron are compared: more than a week of an hourly one. */
const firingsCompared = 200

function refuseTooOften({ timing, maxMs }: ScheduleSpec, everyMinMs: number, now: number): void {
  const expected = `at least ${formatDuration(everyMinMs)}, the everyMin of its namespace`
  const [field, gapMs] =
    timing.cron === undefined ? ['every', timing.everyMs] : ['cron', shortestGapMs(timing.cron, timing.zone, now)]
  if (typeof gapMs === 'number' && gapMs < everyMinMs) {
    throw invalid(field as string, `fires every ${formatDuration(gapMs)}`, expected)
  }
  // `max` wins over the timing: below the limit it would make a slow schedule a fast one.
  if (maxMs !== undefined && maxMs < everyMinMs) throw invalid('max', `is ${formatDuration(maxMs)}`, expected)
}

function shortestGapMs(expression: string, zone: string, now: number): number | null {
  const calendar = cron(expression, zone)
  let shortest: number | null = null
  let last = calendar.next(now)
  for (let count = 0; last !== null && count < firingsCompared; count++) {
    const following = calendar.next(last)
    if (following === null) break
    shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, following - last)
    last = following
  }
  return shortest
}
