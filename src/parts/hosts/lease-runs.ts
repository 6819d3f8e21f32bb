import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { key } from '../../operations/fields/basic-fields.ts'
import { onlyGiven } from '../../operations/fields/only-given.ts'
import { quoted, refuse } from '../../operations/input/refuse-input.ts'
import { waitFields, waitLocal, waitMsOf } from '../../operations/input/wait-input.ts'
import { holdingsOf } from '../../operations/lease/held-lease.ts'
import { LeaseWaits } from '../../operations/lease/lease-waits.ts'
import { throwAbsentQueue } from '../../operations/not-found.ts'
import { everyDoor, operation, subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'
import { type AnswerOf, flag, text } from '../../operations/schema/output-schema.ts'
import type { Reclaimed } from '../../store/port.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { handedOut, reclaimFirst, reclaimMax, requestOf, toldOf } from './hand-out.ts'
import {
  adminFields,
  capabilitiesOf,
  capabilityFields,
  host,
  kindProblems,
  leasesLimit,
  queue,
  queueOf,
} from './lease-input.ts'
import {
  type AnsweredLease,
  answeredLeaseOf,
  leaseNameSchema,
  leaseSchema,
  reclaimedSchema,
  type SetAside,
} from './lease-schema.ts'
import { leaseToHost } from './lease-to-host.ts'
import { showLeasing, showReclaimed } from './show.ts'

const leasing = z.strictObject({
  leases: z.array(leaseSchema).describe('The leases, in queue order.'),
  repeated: flag('Whether the key was used before; then these are the leases of the first request.'),
  over: z.array(leaseNameSchema).describe('Leases of the first request that are no longer held.'),
  ...handedOut,
})
export type Leasing = AnswerOf<typeof leasing>

const asking = {
  noun: 'sched',
  effect: 'write',
  scope: 'operate',
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
} as const

export const lease = operation({
  ...asking,
  verb: 'lease',
  adminFields,
  says: 'Lease the next runs of a queue to an outside host, within its ceilings.',
  request: 'a lease',
  input: z.strictObject({
    host,
    queue,
    limit: leasesLimit,
    ...capabilityFields,
    requestKey: key
      .describe('A repeated call with the same key within a day returns the leases of the first call, and no others.')
      .optional(),
    ...waitFields('How long to wait when there is no work; new work is leased at once.'),
  }),
  takes: ['host'],
  local: waitLocal,
  output: leasing,
  show: showLeasing,
  examples: [{ host: 'builder-1' }, { host: 'builder-1', queue: 'mail', limit: 10, requestKey: 'b1-000017' }],
  async judge(context, { value, problems: found }, { signal }) {
    const problems = [...found, ...kindProblems(value, context.kinds)]
    const waitMs = waitMsOf(value, problems)
    refuse(subjectOf('a lease'), problems)
    const given = value as LeaseRequest
    if (waitMs === undefined) return leasedNow(context, given)
    return leasedLater(context, given, { waitMs, signal })
  },
})

type LeaseRequest = Parameters<typeof requestOf>[1] & { readonly requestKey?: string | undefined }

async function leasedNow(context: OperationContext, given: LeaseRequest): Promise<Leasing> {
  const { requestKey } = given
  const request = requestOf(context, given)
  const reclaimed = await reclaimFirst(context, request.queue)
  const answer = await context.store.do(leaseToHost, { ...request, ...onlyGiven({ key: requestKey }) })
  if (answer.answer === 'other-request') throw otherRequest(requestKey ?? '')
  const { leases, repeated, refused } = answer
  if (refused.length > 0) await context.store.settle(refused)
  const held = new Set(leases.map(({ runId, fence }) => `${runId} ${fence}`))
  return {
    leases: leases.map(answeredLeaseOf),
    repeated: repeated !== undefined,
    over: (repeated ?? []).filter(({ runId, fence }) => !held.has(`${runId} ${fence}`)),
    ...toldOf(request.queue, { ...answer, reclaimed }),
  }
}

/** Leases as soon as there is work. Runs reclaimed or set aside during the wait are reported with the answer. */
async function leasedLater(
  context: OperationContext,
  given: LeaseRequest,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal | undefined },
): Promise<Leasing> {
  const { waits, actor } = context
  const leave = waits.seats.take(actor)
  const reclaimed: Reclaimed[] = []
  const setAside: SetAside[] = []
  const ask = async () => {
    const answer = await leasedNow(context, given)
    reclaimed.push(...answer.reclaimed)
    setAside.push(...answer.setAside)
    // A caller that has disconnected would hold these leases until they expire; a caller with a key may still
    // ask for them.
    if (signal?.aborted === true && given.requestKey === undefined) await giveBack(context, answer.leases)
    return answer
  }
  const isServed = ({ leases, repeated }: Leasing) => leases.length > 0 || repeated
  const wanted = { queue: queueOf(given.queue), can: capabilitiesOf(given) }
  try {
    return { ...(await waits.beside(LeaseWaits).wait(wanted, { ask, isServed, waitMs, signal })), reclaimed, setAside }
  } finally {
    leave()
  }
}

async function giveBack(context: OperationContext, leases: readonly AnsweredLease[]): Promise<void> {
  const holdings = await holdingsOf(
    context,
    leases.map(({ lease: id }) => id),
  )
  const outcome = { kind: 'released' } as const
  const ends = holdings.flatMap((holding) => ('held' in holding ? [holding.held] : []))
  await context.store.settle(ends.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome })))
}

function otherRequest(requestKey: string): BelfryError {
  return new BelfryError('conflict', `The request key ${quoted(requestKey)} was used for another request.`, {
    hint: 'A key belongs to one request: use a new key for each request, and repeat a key only to repeat that request.',
    details: { requestKey },
  })
}

const reclaimCount = z.int().min(1).max(1_000).describe('How many at most. Default: 100.').optional()

export const reclaim = operation({
  ...asking,
  verb: 'reclaim',
  says: 'Reclaim expired leases of a queue; their runs are tried again or parked.',
  request: 'a reclaim',
  errors: ['invalid', 'not-found'],
  input: z.strictObject({ queue, limit: reclaimCount }),
  takes: [],
  output: z.strictObject({
    queue: text('The queue.'),
    reclaimed: z.array(reclaimedSchema).describe('The reclaimed leases.'),
    more: z.boolean().describe('Whether there may be more.'),
  }),
  show: showReclaimed,
  examples: [{}, { queue: 'mail' }],
  async run(context, { queue: given, limit = reclaimMax }) {
    const name = queueOf(given)
    if ((await context.store.look(findQueue, name)) === null) return throwAbsentQueue(context, name)
    const reclaimed = await context.store.reclaim({ queue: name, limit })
    for (const { runId } of reclaimed) void context.waits.look(runId)
    return { queue: name, reclaimed, more: reclaimed.length === limit }
  },
})
