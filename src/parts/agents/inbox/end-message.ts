import { formatId, parseId } from '../../../core/id.ts'
import { settle } from '../../../store/leases/settle.ts'
import type { Lease, LeaseName, Settled } from '../../../store/port.ts'
import { removeOf } from '../../../store/prune/sweep.ts'
import { writeResults } from '../../../store/runs/result.ts'
import { both, clockNow, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { leasesNamed } from '../../../store/verb.ts'
import { liveMs, workingMs } from './inbox-queue.ts'

/**
 * Only the session that holds the message knows the claim. When the lease is over, the row still proves that this caller took the message.
 */
const keepTaker = both(
  'inbox keep taker',
  ({ join }) => `insert into belfry.inbox_message (run_id, ns, session, fence, claim_id, done_at)
    select l.run_id, l.ns, s.id, l.fence, l.claim_id, $5 from belfry.lease l
      ${join.inner('run r', 'r.id = l.run_id')} join belfry.need n on n.id = r.need_id
      left join belfry.agent_session s on s.ns = l.ns and s.run_id = l.run_id and s.fence = l.fence
    where l.run_id = $1 and l.fence = $2 and l.claim_id = $3 and l.ns = $4 and n.kind = 'inbox'
    on conflict (run_id) do update set session = excluded.session, fence = excluded.fence,
      claim_id = excluded.claim_id, done_at = excluded.done_at
    returning session, (select schedule_id from belfry.lease where run_id = $1) as schedule_id`,
)
const keepLive = both(
  'inbox keep live',
  'update belfry.agent_session set seen_at = $3, live_until = $4 where ns = $1 and id = $2',
)
const findTaker = both(
  'inbox find taker',
  'select session, done_at from belfry.inbox_message where run_id = $1 and fence = $2 and claim_id = $3 and ns = $4',
)
const keepDone = both('inbox keep done', 'update belfry.inbox_message set done_at = $2 where run_id = $1')
const keepAuthor = both(
  'inbox keep author',
  'insert into belfry.inbox_message (run_id, ns, author, caller) values ($1, $2, $3, $4)',
)
export const removeMessages = removeOf('inbox_message', 'run_id')

export type Holding = LeaseName & Pick<Lease, 'claimId'>

/** Ends the lease of a message; `null` where the caller does not hold it. */
export function* ackMessage(context: StoreContext, holding: Holding, done?: { result: unknown }): Step<Settled | null> {
  const { runId, fence, claimId } = holding
  const now = yield* clockNow()
  const doneAt = done === undefined ? null : now
  const taker = yield* one<{ session: string | null; schedule_id: number | null }>(
    keepTaker,
    parseId('run', runId),
    fence,
    claimId,
    context.ns,
    doneAt,
  )
  if (taker === undefined) return null
  const scheduleId = taker.schedule_id === null ? null : formatId('schedule', taker.schedule_id)
  const end = { runId, fence, scheduleId, outcome: { kind: 'success' }, ...done } as const
  const [settled] = yield* settle(context, [end])
  const liveFor = done === undefined ? workingMs : liveMs
  if (taker.session !== null) yield* run(keepLive, context.ns, taker.session, now, now + liveFor)
  return settled as Settled
}
ackMessage.audits = (settled: Settled | null) => (settled === null ? null : leasesNamed('acknowledged', [settled]))

export type DoneAnswer =
  | { readonly answer: 'done'; readonly at: number }
  | { readonly answer: 'done-before'; readonly at: number }
  | { readonly answer: 'not-held' }

/** Stores the outcome of a message that was acknowledged before, as the result of its run. */
export function* reportDone(context: StoreContext, holding: Holding, result: unknown): Step<DoneAnswer> {
  const { runId, fence, claimId } = holding
  const now = yield* clockNow()
  const id = parseId('run', runId) as number
  const acked = yield* ackMessage(context, holding, { result })
  if (acked !== null) return acked.answer === 'written' ? { answer: 'done', at: now } : { answer: 'not-held' }
  const row = yield* one<{ session: string | null; done_at: number | null }>(findTaker, id, fence, claimId, context.ns)
  if (row === undefined) return { answer: 'not-held' }
  if (row.done_at !== null) return { answer: 'done-before', at: row.done_at }
  yield* run(keepDone, id, now)
  yield* writeResults([{ runId: id, ns: context.ns, fence, result }])
  if (row.session !== null) yield* run(keepLive, context.ns, row.session, now, now + liveMs)
  return { answer: 'done', at: now }
}
reportDone.audits = ({ answer }: DoneAnswer, [{ runId, fence }]: [Holding, unknown]) =>
  answer === 'done' ? leasesNamed('done', [{ runId, fence }]) : null

export function* keepSender({ ns }: StoreContext, runId: string, author: string, caller: string): Step<void> {
  yield* run(keepAuthor, parseId('run', runId), ns, author, caller)
}
