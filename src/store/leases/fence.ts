import { checkInteger } from '../check.ts'
import type { AttemptEnd } from '../port.ts'
import { clockOr, dialects, inList, run, type Step } from '../statement.ts'
import { columnsOf } from '../tables.ts'

/**
 * Each lease of a run has a higher fence than the one before. Settle, renew and output name the fence of their lease; a write
 * with an older fence changes nothing. This is the highest value that the column holds in both databases.
 */
export const fenceMax = 2 ** 31 - 1

export function checkFence(fence: unknown, least = 1): number {
  return checkInteger(fence, 'fence', least, fenceMax)
}

/** The fence is part of the key: a worker whose lease was reclaimed deletes no row and changes nothing. */
export const takeLeases = dialects('settle take leases', {
  sqlite: `delete from belfry.lease where run_id ${inList.numbers('$1').sqlite} and fence = $2 and ns = $3
    returning ${columnsOf('lease')}, $4 as now`,
  postgres: `delete from belfry.lease where run_id ${inList.numbers('$1').postgres} and fence = $2 and ns = $3
    returning ${columnsOf('lease')}, ${clockOr('$4')} as now`,
})

/** As above, for leases whose end affects nothing else: no schedule, no key, no cancel request. */
export const plainLeases = `and fence = $2 and ns = $3 and schedule_id is null and concurrency_key is null and dedupe_key is null
  and cancel_requested_at is null`

export interface NumberedEnd {
  readonly runId: number
  readonly end: AttemptEnd
}

/** Ends by fence and run. Nearly all runs have the same fence, so one statement per fence replaces a join over pairs. */
export function byFence(ends: readonly NumberedEnd[]): Map<number, Map<number, NumberedEnd>> {
  const fences = new Map<number, Map<number, NumberedEnd>>()
  for (const one of ends) {
    const byRun = fences.get(one.end.fence)
    if (byRun === undefined) fences.set(one.end.fence, new Map([[one.runId, one]]))
    else byRun.set(one.runId, one)
  }
  return fences
}

/** Locks leases by id, for steps that touch them with several statements. Every other step uses the same order. */
const lockInOrder = dialects('settle lock in order', {
  sqlite: null,
  postgres: `select run_id from belfry.lease where run_id ${inList.numbers('$1').postgres} order by run_id for update`,
})

export function* lockLeases(runIds: readonly number[]): Step<void> {
  yield* run(lockInOrder, JSON.stringify(runIds))
}

/** Only a reclaim records an attempt as lost; every other record under this fence is from its own worker. */
export function notWritten(
  { runId, end }: NumberedEnd,
  records: ReadonlyMap<number, ReadonlyMap<number, string>>,
): 'already-written' | 'lease-lost' | 'gone' {
  const byFence = records.get(runId)
  if (byFence === undefined) return 'gone'
  const outcome = byFence.get(end.fence)
  return outcome === undefined || outcome === 'lost' ? 'lease-lost' : 'already-written'
}
