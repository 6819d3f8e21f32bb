import assert from 'node:assert/strict'
import { planLeases } from '../../../src/core/queue/plan-leases.ts'
import { liftHold } from '../../../src/store/holds/lift-hold.ts'
import { listHolds } from '../../../src/store/holds/list-holds.ts'
import { type NewHold, putHold } from '../../../src/store/holds/put-hold.ts'
import type { Lease, NewRun, Store } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { planInput } from '../../../src/store/reads/plan-input.ts'
import { holdOn } from '../../holding.ts'
import { actor, type Case, type Stage, seeded } from '../place.ts'
import { turnAll } from './holds.ts'

const statesMax = 60

export const plans: Case[] = [
  {
    name: 'law 13: lease hands out exactly what planLeases chooses over the whole queue, for random states',
    async run(stage) {
      const store = await stage.open()
      const random = seeded(20_260_105)
      const { workerId } = await stage.lessor(store)
      for (let state = 0; state < statesMax; state++) {
        const queue = `q${state}`
        await randomState(stage, store, queue, random, workerId)
        await randomHolds(stage, store, queue, random)
        for (let look = 0; look < 4; look++) {
          stage.clock.advance(random(3_000))
          // As a worker does when a hold begins or ends.
          await turnAll(store)
          await compare({
            stage,
            store,
            queue,
            workerId,
            limit: 1 + random(8),
            can: capabilities[random(capabilities.length)] as Can,
          })
        }
      }
    },
  },
]

/** Holds on what is in the queue, some of which begin or end while it is looked at. Those of the state before are lifted. */
async function randomHolds(
  stage: Stage,
  store: Store,
  queue: string,
  random: (below: number) => number,
): Promise<void> {
  for (const { id } of await store.look(listHolds)) await store.do(liftHold, id, { actor })
  const subjects = [
    holdOn('queue', queue),
    ...['handler', 'handler/a', 'http', 'agent', 'agent/b/c'].map((kind) => holdOn('kind', kind)),
    ...['k0', 'k1', 'k2'].map((key) => holdOn('key', key)),
  ]
  for (let count = random(4); count > 0; count--) {
    const from = stage.clock.now() + random(3) * random(3_000)
    const until = random(3) === 0 ? undefined : from + 1 + random(6_000)
    await store.do(putHold, { ...(subjects[random(subjects.length)] as NewHold), from, until })
  }
}

type Can = { kinds: string[]; handlers?: string[]; host?: boolean }

const capabilities: Can[] = [
  { kinds: ['handler', 'http'], host: true },
  { kinds: [], handlers: ['a', 'b'] },
  { kinds: ['http', 'agent/a'] },
  { kinds: ['agent'], handlers: ['a'] },
  { kinds: [], host: true },
]
const targets = [
  ...[{ handler: 'a' }, { handler: 'b' }, { http: { url: 'https://example.org' } }, null],
  ...[{ agent: {}, lane: 'a' }, { agent: {}, lane: 'b/c' }, { agent: {} }],
]

async function compare(given: {
  stage: Stage
  store: Store
  queue: string
  workerId: string
  limit: number
  can: Can
}): Promise<void> {
  const { stage, store, queue, workerId, limit, can } = given
  const leaseMs = 20_000
  const window = await store.look(planInput, queue, 10_000)
  const plan = planLeases({ ...window, policy: { ...window.policy, leaseTtlMs: leaseMs }, can: [can], limit })
  const answer = await store.lease({ queue, workerId, claimId: stage.claimId(), can, limit, leaseMs })
  const told = JSON.stringify({ limit, can, window })
  assert.deepEqual(
    answer.leases.map(({ runId, expiresAt }) => ({ id: runId, leaseExpiresAt: expiresAt })),
    plan.leases,
    told,
  )
  if (answer.stopped !== undefined) return
  assert.equal(answer.inFlight, plan.inFlight, told)
  assert.equal(answer.available, plan.available, told)
}

/** Runs of every kind in every place: in line, waiting, behind keys, leased, expired, parked, ended, too late. */
async function randomState(
  stage: Stage,
  store: Store,
  queue: string,
  random: (below: number) => number,
  workerId: string,
): Promise<void> {
  await store.do(setQueue, queue, {
    policy: {
      maxConcurrent: 1 + random(12),
      ...(random(2) === 0 && { maxConcurrentPerKey: 1 + random(2) }),
      ...(random(4) === 0 && { rateLimit: { startsMax: 1 + random(6), perMs: 2_000 } }),
      maxAttempts: 2,
      backoffBaseMs: 1_000,
      onExhausted: random(2) === 0 ? 'park' : 'fail',
    },
    actor,
  })
  const now = stage.clock.now()
  const run = (): NewRun => ({
    queue,
    target: targets[random(targets.length)] as NewRun['target'] & object,
    priority: random(3),
    ...(random(2) === 0 && { concurrencyKey: `k${random(3)}` }),
    ...(random(4) === 0 && { notBefore: now + random(6_000) }),
    ...(random(6) === 0 && { deadline: now + 6_000 + random(6_000) }),
  })
  for (let burst = 0; burst < 3; burst++) {
    await store.enqueue(Array.from({ length: random(12) }, run))
    const can = capabilities[0] as Can
    const { leases } = await store.lease({
      queue,
      workerId,
      claimId: stage.claimId(),
      can,
      limit: random(6),
      leaseMs: 1_000 + random(6_000),
    })
    await store.settle(
      leases.filter(() => random(3) > 0).map((lease) => ({ ...lease, outcome: outcomeOf(lease, random) })),
    )
    stage.clock.advance(random(2_000))
    if (random(3) === 0) await store.reclaim({ limit: 3 })
  }
  if (random(8) === 0) await store.do(setQueue, queue, { paused: { reason: 'for the test' }, actor })
}

function outcomeOf(_: Lease, random: (below: number) => number) {
  const outcomes = [
    { kind: 'success' },
    { kind: 'failed', reason: 'exit 1' },
    { kind: 'released' },
    { kind: 'failed', reason: 'no', retryable: false },
  ] as const
  return outcomes[random(outcomes.length)] ?? outcomes[0]
}
