import { type CallerKind, callerKind } from '../../../core/caller.ts'
import { formatId, parseId } from '../../../core/id.ts'
import type { Capabilities } from '../../../core/queue/plan-leases.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import { holdOn } from '../../../store/holds/hold-row.ts'
import { leaseInStep } from '../../../store/leases/lease.ts'
import { settle } from '../../../store/leases/settle.ts'
import type { Lease, LeaseAnswer } from '../../../store/port.ts'
import { ahead, all, both, clockNow, one, rowsOf, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { leasesNamed } from '../../../store/verb.ts'
import { greetHost } from '../../../store/workers/greet-host.ts'
import { type RunOriginNames, runOrigin } from '../run-origin.ts'
import { inboxQueue, liveMs } from './inbox-queue.ts'
import { type InboxTarget, lanesOf } from './kind.ts'

/** A stop of agents also stops messages: a message is a prompt for an agent. */
const stopped = (now: string) => holdOn('kind', `'agent'`, { now })
/** Here a second request of the same session waits for the first one. */
const greet = both(
  'inbox greet session',
  `insert into belfry.agent_session as s (ns, id, project, seen_at, live_until) values ($1, $2, $3, $4, $5)
    on conflict (ns, id) do update set project = coalesce(excluded.project, s.project), seen_at = excluded.seen_at,
      live_until = excluded.live_until
    returning ${stopped('$4')} as stopped`,
)
/** A separate statement, after the one that may have waited, so that its snapshot has the message that the first request took. */
const findHeld = both(
  'inbox find held',
  ({ join }) => `select l.run_id, l.expires_at from belfry.agent_session s
    ${join.inner('lease l', 'l.run_id = s.run_id and l.fence = s.fence')} where s.ns = $1 and s.id = $2 and l.ns = $1`,
)
const keepHeld = both(
  'inbox keep held',
  `update belfry.agent_session set run_id = $3, fence = $4 where ns = $1 and id = $2 returning ${stopped('$5')} as stopped`,
)
/** A retried message has the author of the original one. */
const findAuthor = both(
  'inbox find author',
  `select m.author, m.caller from belfry.run r join belfry.inbox_message m on m.run_id = coalesce(r.retry_of, r.id)
    where r.id = $1`,
)

/** The newest versions of a schedule. */
const findVersions = both(
  'inbox find versions',
  'select spec, door, caller from belfry.schedule_version where schedule_id = $1 order by version desc limit 20',
)

export interface Asking {
  readonly session: string
  readonly project: string | null
  readonly claimId: string
}

export interface Taken {
  readonly lease: Lease
  /** The sender of the message, or the author of its schedule. Trusted only if a person wrote the prompt. */
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

/** Records that a session is live. */
export function* greetSession({ ns }: StoreContext, { session, project }: Omit<Asking, 'claimId'>): Step<void> {
  const now = yield* clockNow()
  yield* one(greet, ns, session, project, now, now + liveMs)
}

/**
 * Leases the next message to a session, and records the session in the same step. A session that holds a message gets no second one, even
 * if the second belongs to another lane.
 */
export function* takeMessage(context: StoreContext, asking: Asking): Step<TakeAnswer> {
  const { ns } = context
  const { session, project, claimId } = asking
  const now = yield* clockNow()
  const greeting = yield* ahead(greet, ns, session, project, now, now + liveMs)
  const held = yield* one<{ run_id: number; expires_at: number }>(findHeld, ns, session)
  const [greeted] = yield* rowsOf<{ stopped: number | null }>(greeting)
  if (held !== undefined) {
    const runId = formatId('run', held.run_id)
    return { leases: [], more: false, taken: null, held: { runId, expiresAt: held.expires_at } }
  }
  if (greeted?.stopped != null) return keptBack(greeted.stopped)
  const can = sessionCan(asking)
  const workerId = yield* greetHost(context, { host: `session ${session}`, can }, now)
  const { leases, hold, more } = yield* leaseInStep(context, { queue: inboxQueue, limit: 1, can, claimId, workerId })
  const [lease] = leases
  const beside = { leases, more, held: null, ...(hold !== undefined && { hold }) }
  if (lease === undefined) return { ...beside, taken: null }
  const keeping = yield* ahead(keepHeld, ns, session, parseId('run', lease.runId), lease.fence, now)
  const origin = yield* originOf(context, lease)
  const [kept] = yield* rowsOf<{ stopped: number | null }>(keeping)
  if (kept?.stopped != null) {
    // The stop was committed before the lease locked its queue, and its caller has an answer: nothing may start now.
    const { runId, fence, scheduleId } = lease
    yield* settle(context, [{ runId, fence, scheduleId, outcome: { kind: 'released' } }])
    return keptBack(kept.stopped)
  }
  return { ...beside, taken: { lease, origin } }
}

function keptBack(hold: number): TakeAnswer {
  return { leases: [], more: false, taken: null, held: null, hold: formatId('hold', hold) }
}

takeMessage.audits = ({ leases }: TakeAnswer) => leasesNamed('taken', leases)

/**
 * Any caller that may enqueue or schedule can send a message, so its prompt is trusted only if a person wrote it. A session trusts what it
 * has planned for itself.
 */
function* originOf(context: StoreContext, { runId, scheduleId, source, target }: Lease): Step<Taken['origin']> {
  // The prompt of a notification is Belfry's own; the notification itself is the payload.
  if (source === 'notice') return { isTrusted: true }
  if (scheduleId !== null) {
    const isTrusted = yield* isOfPerson(scheduleId, (target as unknown as InboxTarget).inbox.prompt)
    return { ...(yield* runOrigin(context, scheduleId)), isTrusted }
  }
  const row = yield* one<{ author: string | null; caller: string | null }>(findAuthor, parseId('run', runId))
  return { ...(row?.author != null && { author: row.author }), isTrusted: row?.caller === 'person' }
}

/** Whether a person gave a schedule this prompt. A model that changes only the timing of the schedule does not take that away. */
function* isOfPerson(scheduleId: string, prompt: string): Step<boolean> {
  const versions = yield* all<{ spec: string; door: string | null; caller: CallerKind | null }>(
    findVersions,
    parseId('schedule', scheduleId),
  )
  return versions.some(({ spec, door, caller }) => {
    const { target, task } = JSON.parse(spec) as ScheduleSpec
    if ((target as Partial<InboxTarget> | null)?.inbox?.prompt !== prompt) return false
    return (
      task?.session !== undefined ||
      callerKind({ door: door ?? '', ...(caller !== null && { kind: caller }) }) === 'person'
    )
  })
}
