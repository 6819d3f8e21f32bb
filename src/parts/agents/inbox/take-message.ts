import { formatId, parseId } from '../../../core/id.ts'
import type { Capabilities } from '../../../core/queue/plan-leases.ts'
import { holdOn } from '../../../store/holds/hold-row.ts'
import { leaseInStep } from '../../../store/leases/lease.ts'
import { settle } from '../../../store/leases/settle.ts'
import type { Lease, LeaseAnswer } from '../../../store/port.ts'
import { both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { leasesNamed } from '../../../store/verb.ts'
import { greetHost } from '../../../store/workers/greet-host.ts'
import { type RunOriginNames, runOrigin } from '../run-origin.ts'
import { inboxQueue, liveMs } from './inbox-queue.ts'
import { lanesOf } from './kind.ts'

/** What stops agents stops their messages too: a message is a prompt for one. */
const stopped = (now: string) => holdOn('kind', `'agent'`, { now })
/** A request of the same session waits here for the one before. */
const greet = both(
  'inbox greet session',
  `insert into belfry.agent_session as s (ns, id, project, seen_at, live_until) values ($1, $2, $3, $4, $5)
    on conflict (ns, id) do update set project = coalesce(excluded.project, s.project), seen_at = excluded.seen_at,
      live_until = excluded.live_until
    returning run_id, fence, ${stopped('$4')} as stopped`,
)
const findHeld = both(
  'inbox find held',
  'select expires_at from belfry.lease where run_id = $1 and fence = $2 and ns = $3',
)
const keepHeld = both(
  'inbox keep held',
  `update belfry.agent_session set run_id = $3, fence = $4 where ns = $1 and id = $2 returning ${stopped('$5')} as stopped`,
)
/** A retried message has the author of the first. */
const findAuthor = both(
  'inbox find author',
  `select m.author, m.caller from belfry.run r join belfry.inbox_message m on m.run_id = coalesce(r.retry_of, r.id)
    where r.id = $1`,
)

export interface Asking {
  readonly session: string
  readonly project: string | null
  readonly claimId: string
}

export interface Taken {
  readonly lease: Lease
  /** Who sent it or wrote its schedule; a caller that is not known is not trusted. */
  readonly origin: RunOriginNames & { readonly isTrusted: boolean }
}

export interface TakeAnswer extends Pick<LeaseAnswer, 'leases' | 'hold' | 'more'> {
  readonly taken: Taken | null
  /** The message that the session has not acknowledged. */
  readonly held: { readonly runId: string; readonly expiresAt: number } | null
}

/** What a session may lease: its own messages, and those of its project. */
export function sessionCan(asking: Pick<Asking, 'session' | 'project'>): Capabilities {
  return { kinds: lanesOf(asking) }
}

/** Counts a session as live. */
export function* greetSession({ ns }: StoreContext, { session, project }: Omit<Asking, 'claimId'>): Step<void> {
  const now = yield* clockNow()
  yield* one(greet, ns, session, project, now, now + liveMs)
}

/**
 * Leases the next message to a session. One at a time: a session that holds a message gets no other, whatever the second is bound
 * to. The session is recorded in the same step.
 */
export function* takeMessage(context: StoreContext, asking: Asking): Step<TakeAnswer> {
  const { ns } = context
  const { session, project, claimId } = asking
  const now = yield* clockNow()
  const row = yield* one<{ run_id: number | null; fence: number | null; stopped: number | null }>(
    greet,
    ns,
    session,
    project,
    now,
    now + liveMs,
  )
  const held = row?.run_id == null ? undefined : yield* one<{ expires_at: number }>(findHeld, row.run_id, row.fence, ns)
  if (held !== undefined) {
    const runId = formatId('run', row?.run_id as number)
    return { leases: [], more: false, taken: null, held: { runId, expiresAt: held.expires_at } }
  }
  if (row?.stopped != null) return keptBack(row.stopped)
  const can = sessionCan(asking)
  const workerId = yield* greetHost(context, { host: `session ${session}`, can }, now)
  const { leases, hold, more } = yield* leaseInStep(context, { queue: inboxQueue, limit: 1, can, claimId, workerId })
  const [lease] = leases
  const beside = { leases, more, held: null, ...(hold !== undefined && { hold }) }
  if (lease === undefined) return { ...beside, taken: null }
  const kept = yield* one<{ stopped: number | null }>(
    keepHeld,
    ns,
    session,
    parseId('run', lease.runId),
    lease.fence,
    now,
  )
  if (kept?.stopped != null) {
    // The stop was committed before the lease had locked its queue, and has returned: nothing may start.
    const { runId, fence, scheduleId } = lease
    yield* settle(context, [{ runId, fence, scheduleId, outcome: { kind: 'released' } }])
    return keptBack(kept.stopped)
  }
  return { ...beside, taken: { lease, origin: yield* originOf(context, lease) } }
}
function keptBack(hold: number): TakeAnswer {
  return { leases: [], more: false, taken: null, held: null, hold: formatId('hold', hold) }
}

takeMessage.audits = ({ leases }: TakeAnswer) => leasesNamed('taken', leases)

/** A schedule is what its owner wrote. Other messages come from any caller that may enqueue, and only those that a person sent are trusted. */
function* originOf(context: StoreContext, { runId, scheduleId, source }: Lease): Step<Taken['origin']> {
  // The prompt of a notification is Belfry's own; what is told is its payload.
  if (source === 'notice') return { isTrusted: true }
  if (scheduleId !== null) return { ...(yield* runOrigin(context, scheduleId)), isTrusted: true }
  const row = yield* one<{ author: string | null; caller: string | null }>(findAuthor, parseId('run', runId))
  return { ...(row?.author != null && { author: row.author }), isTrusted: row?.caller === 'person' }
}
