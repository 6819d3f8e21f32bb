import { formatId } from '../../core/id.ts'
import { planned } from '../../core/schedule/next-plan.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import { checkInteger } from '../check.ts'
import type { Repaired } from '../port.ts'
import { namingQueue } from '../prune/sweep-queues.ts'
import { bringQueueBack, readPolicy } from '../queues/queue-row.ts'
import { tryRegate } from '../runs/key-gate.ts'
import { all, both, clockNow, type Joins, one, type Row, type Step, thereIs, thereIsNo } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { liveRunsOf, openOverlapGates } from './live-run.ts'
import { lockSchedules, type ScheduleRow, saveSchedules } from './schedule-row.ts'

/** Schedules that will never wake: they have no instant, wait for no live run, and the governor did not end them. */
export const brokenChain = `s.wake_at is null and s.deleted_at is null and s.disabled_at is null and s.is_done = 0
  and ${thereIsNo('from belfry.schedule_run r where r.schedule_id = s.id and r.run_id = s.waits_for')}`
const findBroken = both(
  'repair find broken',
  `select s.id from belfry.schedule s where ${brokenChain} order by s.id limit $1`,
)
const firstOfNextLane = `coalesce(
  (select n.run_id from belfry.aside n where n.kind = 'key' and n.queue_id = l.queue_id
    and n.concurrency_key = l.concurrency_key and n.need_id > l.need_id order by n.need_id limit 1),
  (select n.run_id from belfry.aside n where n.kind = 'key' and n.queue_id = l.queue_id
    and n.concurrency_key > l.concurrency_key order by n.concurrency_key, n.need_id limit 1),
  (select n.run_id from belfry.aside n where n.kind = 'key' and n.queue_id > l.queue_id
    order by n.queue_id, n.concurrency_key, n.need_id limit 1))`
const inLineOfLane = `from belfry.ready r
  where r.queue_id = l.queue_id and r.concurrency_key = l.concurrency_key and r.need_id = l.need_id`
/** An ended hold counts until `turnHolds` has removed it: until then it is right that the gate of its key is closed. */
const holdOfKey = `from belfry.hold h
  where h.ns = q.ns and h.scope = 'key' and h.subject = l.concurrency_key and (h.from_at <= $2 or h.until_at <= $2)`
/** Jumps from lane to lane of each key along the index: reading every run behind a gate could take seconds. */
export const findGates = both(
  'repair find gates',
  ({ join }) => `with recursive lane (queue_id, concurrency_key, need_id) as (
    select queue_id, concurrency_key, need_id from (select queue_id, concurrency_key, need_id from belfry.aside where kind = 'key'
      order by queue_id, concurrency_key, need_id limit 1) first
    union all
    select a.queue_id, a.concurrency_key, a.need_id from lane l ${join.inner('aside a', `a.run_id = ${firstOfNextLane}`)}
  )
  select l.queue_id, l.concurrency_key, q.ns, q.name, q.policy,
    (select count(*) from belfry.lease e where e.queue_id = l.queue_id and e.concurrency_key = l.concurrency_key)
      as in_flight
  from (select queue_id, concurrency_key, need_id from lane limit $1) l join belfry.queue q on q.id = l.queue_id
  where ${thereIsNo(inLineOfLane)} and ${thereIsNo(holdOfKey)}`,
)
const findInLine = both(
  'repair find in line',
  'select run_id from belfry.ready where queue_id = $1 and concurrency_key = $2 limit 1',
)
/** Runs that wait behind others of their schedule, all of which wait too. */
export const behindNobody = (join: Joins) =>
  `${thereIs(`from belfry.aside a where a.run_id = s.run_id and a.kind = 'overlap'`)}
  and ${thereIsNo(`from belfry.schedule_run t ${join.left('aside b', 'b.run_id = t.run_id')}
    where t.schedule_id = s.schedule_id and (b.kind is null or b.kind <> 'overlap')`)}`
const findBehindNobody = both(
  'repair find behind ended',
  ({ join }) => `select distinct s.schedule_id from belfry.schedule_run s where ${behindNobody(join)}
    order by s.schedule_id limit $1`,
)

/** Queues that were deleted at the moment when work arrived in them. */
const findDeletedInUse = both(
  'repair find deleted queues',
  `select q.id, q.name from belfry.queue q
    where q.deleted_at is not null and (${namingQueue.map(thereIs).join(' or ')}) order by q.id limit $1`,
)

const lanesMax = 10_000

/**
 * Finds impossible states: a schedule that will never wake, a key with a free slot and no run in line, a run that waits for ended
 * runs. Fixes and reports them; each is caused by a defect somewhere else.
 */
export function* repair(_context: StoreContext, { limit }: { limit: number }): Step<Repaired[]> {
  checkInteger(limit, 'limit', 1, 100_000)
  const now = yield* clockNow()
  const chains = yield* mendChains(now, limit)
  const overlaps = yield* mendOverlaps(now, limit)
  const gates = yield* mendGates(now, limit)
  return [...chains, ...overlaps, ...gates, ...(yield* mendQueues(limit))]
}

function* mendChains(now: number, limit: number): Step<Repaired[]> {
  const ids = (yield* all<{ id: number }>(findBroken, limit)).map((row) => row.id)
  const locked = yield* lockSchedules(ids, { wait: false })
  const live = yield* liveRunsOf([...locked.keys()])
  const mended = [...locked.values()].flatMap((row) => {
    const runs = live.get(row.id) ?? []
    // The schedule may have been fixed, or a run of it may have ended, between the read and the
    // lock.
    if (row.wakeAt !== null || row.deletedAt !== null || isPaused(row, now)) return []
    if (row.waitsFor !== null && runs.some(({ runId }) => runId === row.waitsFor)) return []
    return [planned(row, { now, lastRunId: lastRunId(row, runs) })]
  })
  yield* saveSchedules(mended)
  return mended.map((row) => ({ what: 'chain', subject: row.name, sentence: chainSentence(row) }))
}

function chainSentence({ name, nextRunAt, waitsFor }: ScheduleRow): string {
  const next =
    nextRunAt !== null
      ? `it runs next at ${new Date(nextRunAt).toISOString()}`
      : waitsFor !== null
        ? `it waits for run ${formatId('run', waitsFor)}`
        : 'it has no further run'
  return `Schedule ${name} had neither a next instant nor a live run to wait for; now ${next}.`
}

function* mendOverlaps(now: number, limit: number): Step<Repaired[]> {
  const ids = (yield* all<{ schedule_id: number }>(findBehindNobody, limit)).map((row) => row.schedule_id)
  const locked = yield* lockSchedules(ids, { wait: false })
  const freed: Repaired[] = []
  for (const { id, name } of locked.values()) {
    for (const runId of yield* openOverlapGates(now, [id])) {
      const sentence = `Run ${formatId('run', runId)} of schedule ${name} waited for runs that had all ended; it may start now.`
      freed.push({ what: 'overlap-gate', subject: name, sentence })
    }
  }
  return freed
}

function* mendGates(now: number, limit: number): Step<Repaired[]> {
  const mended: Repaired[] = []
  for (const row of yield* all(findGates, lanesMax, now)) {
    if (mended.length === limit) return mended
    const gate = { ns: row.ns as number, queueId: row.queue_id as number, key: row.concurrency_key as string }
    if (isKeyShut(row)) continue
    yield* tryRegate({ ...gate, limit: keyLimit(row) })
    if ((yield* one(findInLine, gate.queueId, gate.key)) === undefined) continue
    mended.push({ what: 'key-gate', subject: row.name as string, sentence: gateSentence(row) })
  }
  return mended
}

function keyLimit(row: Row): number | null {
  return readPolicy(row.policy as string)?.maxConcurrentPerKey ?? null
}

/** Whether the key has no free slot, so that its runs have to wait behind the gate. */
export function isKeyShut(row: Row): boolean {
  const limit = keyLimit(row)
  return limit !== null && (row.in_flight as number) >= limit
}

function gateSentence(row: Row): string {
  const key = JSON.stringify(row.concurrency_key)
  return `Runs of key ${key} in queue ${row.name} waited for a free slot of the key although one was free; the next may start now.`
}

function* mendQueues(limit: number): Step<Repaired[]> {
  const mended: Repaired[] = []
  for (const { id, name } of yield* all<{ id: number; name: string }>(findDeletedInUse, limit)) {
    yield* bringQueueBack(id)
    const sentence = `Queue ${name} was deleted while work arrived; it exists again with its old policy.`
    mended.push({ what: 'queue', subject: name, sentence })
  }
  return mended
}
