import type { Sweeping } from '../../../store/prune/sweep.ts'
import { all, dialects, type Step, thereIs } from '../../../store/statement.ts'
import { settleEnds } from './settle-ends.ts'

/** As long as the ledger is kept. */
const keptMs = 90 * 86_400_000
/** A reservation is made under a lease, and settled with it. */
const orphanedMs = 600_000

const remove = (table: string, old: string) => {
  const keys = table === 'attempt_usage' ? 'run_id, fence' : 'run_id, fence, budget_id'
  return dialects(`prune remove ${table}`, {
    sqlite: `delete from belfry.${table} where (${keys}) in (
      select ${keys} from belfry.${table} where ns = $1 and ${old} <= $2 limit $3) returning run_id`,
    postgres: `delete from belfry.${table} where ctid = any (array(
      select ctid from belfry.${table} where ns = $1 and ${old} <= $2 limit $3 for update skip locked)) returning run_id`,
  })
}
const removeUsage = remove('attempt_usage', 'at')
const removeCharges = remove('budget_reservation', 'settled_at')
const orphans = `select run_id, fence from belfry.budget_reservation r where ns = $1 and settled_at is null and reserved_at <= $2
  and not (${thereIs('from belfry.lease l where l.run_id = r.run_id and l.fence = r.fence')}) limit $3`
const findOrphans = dialects('prune find orphaned reservations', { sqlite: orphans, postgres: orphans })

export function* sweepUsage({ context, now, rowsLeft }: Sweeping): Step<number> {
  return (yield* all(removeUsage, context.ns, now - keptMs, rowsLeft)).length
}

/** Also settles reservations whose lease is gone: a program without the budgets part may have written the end of the run. */
export function* sweepReservations({ context, now, rowsLeft }: Sweeping): Step<number> {
  const { ns } = context
  const found = yield* all<{ run_id: number; fence: number }>(findOrphans, ns, now - orphanedMs, rowsLeft)
  const lost = { ns, scheduleId: null, outcome: 'lost', status: 'ready', isOver: false, reason: 'lost' } as const
  const ends = found.map(({ run_id: runId, fence }) => ({ ...lost, runId, fence }))
  yield* settleEnds(context, { now, ends, schedules: new Map() })
  return (yield* all(removeCharges, ns, now - keptMs, rowsLeft)).length + found.length
}
