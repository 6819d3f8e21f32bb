import { checkText, hashOf, keyLengthMax } from '../../store/check.ts'
import { leaseInStep, leasesOf } from '../../store/leases/lease.ts'
import { settle } from '../../store/leases/settle.ts'
import type { LeaseAnswer, LeaseName, LeaseRequest } from '../../store/port.ts'
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
  const answer = yield* leaseInStep(context, { ...request, workerId })
  if (key !== undefined) yield* keep(context, key, answer)
  return { ...answer, answer: 'leased' }
}
leaseToHost.audits = (answer: HostLeased) =>
  answer.answer === 'leased' && answer.repeated === undefined ? leasesNamed('leased', answer.leases) : null

/** Leases and ends in one step. The caller may lose these runs: no lease remembers them. */
export function* drainQueue(context: StoreContext, request: HostRequest): Step<LeaseAnswer> {
  const now = yield* clockNow()
  const workerId = yield* greetHost(context, request, now)
  const answer = yield* leaseInStep(context, { ...request, workerId })
  yield* settle(
    context,
    answer.leases.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome: { kind: 'success' } })),
  )
  return answer
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
  const leases = yield* leasesOf(context, found.claim_id)
  const granted = JSON.parse(found.granted) as LeaseName[]
  return { ...nothingElse, leases, answer: 'leased', repeated: granted }
}

const nothingElse = { skipped: [], broken: [], inFlight: 0, available: 0, full: false, keyed: false, more: false }

function* keep({ ns }: StoreContext, key: string, { leases }: LeaseAnswer): Step<void> {
  if (leases.length === 0) return yield* run(forgetKey, ns, key)
  const names = leases.map(({ runId, fence }) => ({ runId, fence }))
  yield* run(keepGranted, ns, key, JSON.stringify(names))
}
