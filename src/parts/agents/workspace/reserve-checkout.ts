import type { HoldReason } from '../../../core/hold-reason.ts'
import { formatId, parseId } from '../../../core/id.ts'
import type { Begin } from '../../../engine/part.ts'
import { endHold } from '../../../store/holds/lift-hold.ts'
import { writeHold } from '../../../store/holds/put-hold.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import type { Actor, LeaseName } from '../../../store/port.ts'
import type { Ends } from '../../../store/runs/end-hooks.ts'
import { both, clockNow, dialects, each, one, run, type Step, thereIsNo } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** Two agents in one checkout would overwrite each other's work, even if their queues differ. */
export const checkoutFull: HoldReason = {
  code: 'checkout-full',
  firing: 'waits',
  says: 'An agent works in this checkout: other runs for it wait.',
  unblocks: 'The run ends; or give runs a worktree of their own: `--workspace worktree`.',
  sentence: ({ subject, note }) => `Run ${note ?? 'of an agent'} works in ${subject}.`,
  ends: 'It starts when that run ends, and asks again at the latest.',
  lift: ({ note }) => ({ what: 'Look at that run.', words: ['run', 'show', note ?? ''] }),
}

const belfry: Actor = { name: 'belfry', door: 'worker' }
/** The end of the run lifts the hold. This time is the limit for a hold that was not lifted. */
const holdMsMax = 600_000

const leased = 'select concurrency_key from belfry.lease where run_id = $1 and fence = $2'
const lockLease = dialects('checkout lock lease', { sqlite: leased, postgres: `${leased} for key share` })
/** A checkout is free if the lease of the attempt that took it has ended. */
const take = both(
  'checkout take',
  `insert into belfry.agent_checkout as c (ns, path, run_id, fence) values ($1, $2, $3, $4)
    on conflict (ns, path) do update set run_id = excluded.run_id, fence = excluded.fence
      where ${thereIsNo('from belfry.lease l where l.run_id = c.run_id and l.fence = c.fence')}
    returning run_id`,
)
const found = 'select run_id, hold_id from belfry.agent_checkout where ns = $1 and path = $2'
const lockTaken = dialects('checkout lock taken', { sqlite: found, postgres: `${found} for update` })
const stillHeld = both('checkout find hold', 'select id from belfry.hold where id = $1 and until_at > $2')
const noteHold = both('checkout note hold', 'update belfry.agent_checkout set hold_id = $3 where ns = $1 and path = $2')
const leave = dialects('checkout leave', {
  sqlite: 'delete from belfry.agent_checkout where run_id = $1 and fence = $2 returning hold_id',
  postgres: `delete from belfry.agent_checkout c using unnest($1::bigint[], $2::int[]) as i (run_id, fence)
    where c.run_id = i.run_id and c.fence = i.fence returning c.hold_id`,
})

/**
 * Reserves the checkout that the concurrency key of a run names, for one attempt. If the checkout is taken, the run puts a hold on the key
 * in every queue and waits: the end of the other run lifts the hold.
 */
export function* reserveCheckout(context: StoreContext, name: LeaseName): Step<Begin> {
  const runId = runIdOf(name)
  const lease = yield* one<{ concurrency_key: string | null }>(lockLease, runId, name.fence)
  if (lease === undefined) return { fail: 'its lease was lost before it began' }
  const { concurrency_key: path } = lease
  // A key that is not a path was chosen by the caller. It reserves no checkout.
  if (path === null || !path.startsWith('/')) return { go: true }
  if ((yield* one(take, context.ns, path, runId, name.fence)) !== undefined) return { go: true, isWatched: true }
  const now = yield* clockNow()
  const taken = yield* one<{ run_id: number; hold_id: number | null }>(lockTaken, context.ns, path)
  if (taken !== undefined) yield* holdKey(context, path, taken, now)
  return { defer: { until: now, reason: checkoutFull.code } }
}

function* holdKey(
  context: StoreContext,
  path: string,
  { run_id: runId, hold_id: holdId }: { run_id: number; hold_id: number | null },
  now: number,
): Step<void> {
  if (holdId !== null && (yield* one(stillHeld, holdId, now)) !== undefined) return
  const note = formatId('run', runId)
  const whole = { scope: 'key', subject: path, from: now, until: now + holdMsMax, note, actor: belfry } as const
  const hold = yield* writeHold(context, { ...whole, reason: checkoutFull }, now)
  yield* run(noteHold, context.ns, path, parseId('hold', hold.id))
}

/** Frees the checkouts of ended attempts. The end of a lost attempt does not say whether it had one. */
export function* leaveCheckouts(_: StoreContext, { now, ends }: Ends<unknown>): Step<void> {
  const ours = ends.filter(({ isWatched, outcome }) => isWatched === true || outcome === 'lost')
  const left = yield* each<{ hold_id: number | null }>(
    leave,
    ours.map(({ runId, fence }) => [runId, fence]),
  )
  for (const { hold_id: holdId } of left) if (holdId !== null) yield* run(endHold, holdId, now)
}
leaveCheckouts.skipsPlain = true as const
