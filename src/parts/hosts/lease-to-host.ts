import type { Outcome } from '../../core/run/verdict.ts'
import { checkText, hashOf, keyLengthMax } from '../../store/check.ts'
import { leaseInStep, leasesOf } from '../../store/leases/lease.ts'
import { settle } from '../../store/leases/settle.ts'
import type { AttemptEnd, Lease, LeaseAnswer, LeaseName, LeaseRequest } from '../../store/port.ts'
import { both, clockNow, one, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { leasesNamed } from '../../store/verb.ts'
import { greetHost } from '../../store/workers/greet-host.ts'

export interface HostRequest extends Omit<LeaseRequest, 'workerId'> {
  readonly host: string
  /** The caller, where it is known: only the caller that first used a key gets its answer again. */
  readonly by?: string
  /** A repeated request with the same key returns the leases of the first, and no others. */
  readonly key?: string
}

export type HostLeased =
  | (LeaseAnswer & {
      readonly answer: 'leased'
      /** The leases of the first request with this key; `leases` are those still held. */
      readonly repeated?: readonly LeaseName[]
      /** Leases that found nothing to reserve, with their ends; the caller writes these. */
      readonly refused: readonly AttemptEnd[]
    })
  /** The key was used for another request. */
  | { readonly answer: 'other-request' }

/** A concurrent request with the same key waits here for the first. */
const claimKey = both(
  'host claim key',
  `insert into belfry.claim (ns, key, claim_id, input_hash, granted, created_at) values ($1, $2, $3, $4, '[]', $5)
    on conflict (ns, key) do nothing returning key`,
)
const findClaim = both(
  'host find claim',
  'select claim_id, input_hash, granted from belfry.claim where ns = $1 and key = $2',
)
const keepGranted = both('host keep granted', 'update belfry.claim set granted = $3 where ns = $1 and key = $2')
const forgetKey = both('host forget key', 'delete from belfry.claim where ns = $1 and key = $2')

/** Leases to a host in one step: it records the host and its key with the leases, or nothing. A key without leases is not recorded, so that the next request with it may get some. */
export function* leaseToHost(context: StoreContext, request: HostRequest): Step<HostLeased> {
  const { key, claimId } = request
  const now = yield* clockNow()
  const workerId = yield* greetHost(context, request, now)
  if (key !== undefined) {
    const isNew = (yield* one(claimKey, context.ns, checkedKey(key), claimId, requestHash(request), now)) !== undefined
    if (!isNew) return yield* repeated(context, key, request)
  }
  const { leases: leased, ...answer } = yield* leaseInStep(context, { ...request, workerId })
  const { leases, refused } = yield* reserveEach(context, leased)
  if (key !== undefined) yield* keep(context, key, leases)
  return { ...answer, leases, refused, answer: 'leased' }
}
leaseToHost.audits = (answer: HostLeased) =>
  answer.answer === 'leased' && answer.repeated === undefined ? leasesNamed('leased', answer.leases) : null

/**
 * Reserves what the leased runs use, as a worker does before it starts one. It is part of the step, because a host starts what it is
 * told of. The ends of the others are written in a step of their own, which locks schedules before accounts.
 */
function* reserveEach(
  context: StoreContext,
  leased: readonly Lease[],
): Step<{ readonly leases: Lease[]; readonly refused: AttemptEnd[] }> {
  const leases: Lease[] = []
  const refused: AttemptEnd[] = []
  for (const lease of leased) {
    const outcome = yield* refusalOf(context, lease)
    const { runId, fence, scheduleId } = lease
    if (outcome === null) leases.push(lease)
    else refused.push({ runId, fence, scheduleId, outcome, isWatched: true })
  }
  return { leases, refused }
}

function* refusalOf(context: StoreContext, lease: Lease): Step<Outcome | null> {
  for (const { reserves } of context.parts) {
    if (reserves === undefined) continue
    const answer = yield* reserves(context, lease)
    if ('skip' in answer) return { kind: 'skipped', reason: answer.skip }
    if ('defer' in answer) return { kind: 'deferred', ...answer.defer }
    if ('fail' in answer) return { kind: 'failed', reason: answer.fail, retryable: true }
  }
  return null
}

/** Leases and ends in one step. If the caller crashes these runs are lost, because no lease is left. */
export function* drainQueue(context: StoreContext, request: HostRequest): Step<LeaseAnswer> {
  const now = yield* clockNow()
  const workerId = yield* greetHost(context, request, now)
  const { leases: leased, ...answer } = yield* leaseInStep(context, { ...request, workerId })
  const { leases, refused } = yield* reserveEach(context, leased)
  const ends = leases.map(({ runId, fence, scheduleId, isBudgeted = false }): AttemptEnd => {
    return { runId, fence, scheduleId, outcome: { kind: 'success' }, ...(isBudgeted && { isWatched: true }) }
  })
  yield* settle(context, [...ends, ...refused])
  return { ...answer, leases }
}
drainQueue.audits = ({ leases }: LeaseAnswer) => leasesNamed('drained', leases)

function checkedKey(key: string): string {
  return checkText(key, 'requestKey', keyLengthMax)
}

function requestHash({ host, queue, limit, can, by }: HostRequest): string {
  return hashOf({ host, queue, limit, can, by: by ?? null })
}

function* repeated(context: StoreContext, key: string, request: HostRequest): Step<HostLeased> {
  const found = yield* one<{ claim_id: string; input_hash: string; granted: string }>(findClaim, context.ns, key)
  if (found === undefined || found.input_hash !== requestHash(request)) return { answer: 'other-request' }
  const granted = JSON.parse(found.granted) as LeaseName[]
  const names = new Set(granted.map(({ runId, fence }) => `${runId} ${fence}`))
  // A lease that was refused a reservation may not have ended yet.
  const leases = (yield* leasesOf(context, found.claim_id)).filter(({ runId, fence }) => names.has(`${runId} ${fence}`))
  return { ...nothingElse, leases, refused: [], answer: 'leased', repeated: granted }
}

const nothingElse = { skipped: [], broken: [], inFlight: 0, available: 0, full: false, keyed: false, more: false }

function* keep({ ns }: StoreContext, key: string, leases: readonly Lease[]): Step<void> {
  if (leases.length === 0) return yield* run(forgetKey, ns, key)
  const names = leases.map(({ runId, fence }) => ({ runId, fence }))
  yield* run(keepGranted, ns, key, JSON.stringify(names))
}
