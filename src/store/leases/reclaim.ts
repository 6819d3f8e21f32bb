import { formatId, parseId } from '../../core/id.ts'
import type { Verdict } from '../../core/run/verdict.ts'
import { canBeName, checkInteger } from '../check.ts'
import type { Reclaimed, ReclaimRequest } from '../port.ts'
import { conclude } from '../runs/conclude.ts'
import { tryLockGate } from '../runs/key-gate.ts'
import { lockSchedules, scheduleIdsOf } from '../schedules/schedule-row.ts'
import { all, both, clockNow, dialects, inList, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { leasesNamed } from '../verb.ts'
import { noteLost } from './lost-runs.ts'
import { endingOf, judge } from './settle.ts'

const findReclaimable = both(
  'reclaim find',
  `select run_id, queue_id, concurrency_key, schedule_id from belfry.lease
    where expires_at <= $1 order by expires_at, run_id limit $2`,
)
const findOfQueue = both(
  'reclaim find of queue',
  `select l.run_id, l.queue_id, l.concurrency_key, l.schedule_id from belfry.lease l
    join belfry.queue q on q.id = l.queue_id where l.expires_at <= $1 and q.ns = $2 and q.name = $3
    order by l.expires_at, l.run_id limit $4`,
)
const findNamed = both(
  'reclaim find named',
  ({ numbers }) => `select run_id, queue_id, concurrency_key, schedule_id from belfry.lease
    where run_id ${numbers('$2')} and ns = $3 and expires_at <= $1 order by run_id limit $4`,
)
const findOfWorkers = both(
  'reclaim find of workers',
  ({ numbers }) => `select run_id, queue_id, concurrency_key, schedule_id from belfry.lease
    where ns = $3 and worker_id ${numbers('$1')} order by run_id limit $2`,
)
/**
 * Checks again the conditions of the read, without an instant where only leases of dead workers are requested: a lease that was renewed or
 * ended since then is not taken. Locked rows are left to their owner.
 */
export const takeBack = dialects('reclaim take back', {
  sqlite: `delete from belfry.lease where run_id ${inList.numbers('$1').sqlite}
    and (expires_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').sqlite}) returning ${columnsOf('lease')}`,
  postgres: `delete from belfry.lease where run_id = any (array(
      select run_id from belfry.lease where run_id ${inList.numbers('$1').postgres}
        and (expires_at <= $2 or ns = $4 and worker_id ${inList.numbers('$3').postgres})
      order by run_id for update skip locked)) returning ${columnsOf('lease')}`,
})

/**
 * Reclaims expired leases, if asked to, and those of workers proven dead, and judges their runs. Until then such a lease keeps
 * its slot, and its worker may still settle it.
 */
export function* reclaim(
  context: StoreContext,
  { deadWorkers = [], expired = true, queue, limit }: ReclaimRequest,
): Step<Reclaimed[]> {
  checkInteger(limit, 'limit', 1, 100_000)
  const now = yield* clockNow()
  const dead = new Set(deadWorkers.flatMap((id) => parseId('worker', id) ?? []))
  const deadList = JSON.stringify([...dead])
  const late = yield* findLate(context, { now, expired, queue, limit })
  const orphaned = dead.size === 0 ? [] : yield* all(findOfWorkers, deadList, limit, context.ns)
  const found = [...new Map([...late, ...orphaned].map((row) => [row.run_id as number, row])).values()]
  if (found.length === 0) return []

  const schedules = yield* lockSchedules(scheduleIdsOf(found), { wait: false })
  const free = yield* withFreeGates(
    found.filter((row) => row.schedule_id === null || schedules.has(row.schedule_id as number)),
  )
  const listed = JSON.stringify(free.map((row) => row.run_id))
  const taken = yield* all(takeBack, listed, expired === false ? null : now, deadList, context.ns)
  const isDead = (row: Row) => row.ns === context.ns && dead.has(row.worker_id as number)
  const lost = taken.map((lease) => ({ lease, outcome: { kind: 'lost', holderDied: isDead(lease) } as const }))
  const verdicts = yield* judge(context, now, lost, schedules)
  const verdictOf = (lease: Row) => verdicts.get(lease.run_id as number) as Verdict
  const endings = taken.map((lease) => endingOf(lease, 'lost', verdictOf(lease)))
  yield* conclude(context, { now, endings, schedules })
  const reclaimed = taken.map((lease) => {
    const { status, reason, nextEligibleAt } = verdictOf(lease)
    return {
      runId: formatId('run', lease.run_id as number),
      fence: lease.fence as number,
      status,
      reason,
      because: isDead(lease) ? ('holder-dead' as const) : ('expired' as const),
      ...(nextEligibleAt !== undefined && { nextEligibleAt }),
    }
  })
  yield* noteLost(reclaimed.map((one, index) => ({ ...one, workerId: taken[index]?.worker_id as number })))
  return reclaimed
}
reclaim.audits = (taken: readonly Reclaimed[]) => leasesNamed('reclaimed', taken)

interface Late {
  readonly now: number
  readonly expired: boolean | readonly string[]
  readonly queue: string | undefined
  readonly limit: number
}

/** Expiry depends on time alone, so it covers every namespace; a request that names runs or a queue covers its own namespace. */
function* findLate({ ns }: StoreContext, { now, expired, queue, limit }: Late): Step<Row[]> {
  if (expired === false) return []
  if (queue !== undefined) return canBeName(queue) ? yield* all(findOfQueue, now, ns, queue, limit) : []
  if (expired === true) return yield* all(findReclaimable, now, limit)
  const ids = expired.flatMap((id) => parseId('run', id) ?? [])
  return ids.length === 0 ? [] : yield* all(findNamed, now, JSON.stringify(ids), ns, limit)
}

/** Runs whose gate another transaction holds are left to the next round. */
function* withFreeGates(rows: readonly Row[]): Step<Row[]> {
  const free: Row[] = []
  for (const row of rows) {
    const key = row.concurrency_key as string | null
    if (key === null || (yield* tryLockGate({ queueId: row.queue_id as number, key }))) free.push(row)
  }
  return free
}
