import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { parseId } from '../../../src/core/id.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { claimAll } from '../claim-all.ts'
import { actor, type Case, enqueueMany, noop, type Stage, seeded } from '../place.ts'

const runsMax = 10_000

export const claims: Case[] = [
  {
    name: 'sixteen claimers in batches of 1 to 50 never receive the same run twice, and keep the order of the queue',
    async run(stage) {
      const store = await stage.openWithOwnClock()
      await stage.setPolicy(store, { maxConcurrent: 1_000 })
      const random = seeded(7)
      await enqueueMany(store, runsMax, () => noop({ priority: random(5) }))
      const ranked = await stage.sql('select run_id from belfry.ready order by priority, enqueued_at, run_id')
      const rankOf = new Map(ranked.map((row, rank) => [row.run_id as number, rank]))

      const got = await claimEverything(stage)
      assert.equal(new Set(got.flat()).size, got.flat().length, 'a run was handed out twice')
      assert.equal(got.flat().length, runsMax)
      for (const claim of got) {
        const ranks = claim.map((id) => rankOf.get(parseId('run', id) as number) as number)
        ranks.forEach((rank, index) => {
          if (index > 0)
            assert.equal(rank, (ranks[index - 1] as number) + 1, 'a claim skipped a run that ranked before')
        })
      }
      const left = await stage.sql(
        'select (select count(*) from belfry.lease) as leases, count(*) as ready from belfry.ready',
      )
      assert.deepEqual({ ...left[0] }, { leases: 0, ready: 0 })
    },
  },
  {
    name: 'law 3: the ceiling is never passed, sampled from outside, also while it is lowered and raised',
    async run(stage) {
      const store = await stage.openWithOwnClock()
      await stage.setPolicy(store, { maxConcurrent: 7 })
      await enqueueMany(store, 1_200, () => noop())
      const claiming = { done: false }
      const working = claimEverything(stage, 5).finally(() => {
        claiming.done = true
      })
      const samples: { ceiling: number; in_flight: number }[] = []
      const ceilings = [7, 3, 10, 2, 6]
      for (let turn = 0; !claiming.done; turn++) {
        if (turn % 40 === 39) {
          const maxConcurrent = ceilings[Math.floor(turn / 40) % ceilings.length] as number
          await store.do(setQueue, 'default', { policy: { maxConcurrent }, actor })
        }
        samples.push(await sample(stage))
        await pause(0)
      }
      await working
      judgeCeiling(samples)
      assert.ok(
        samples.some(({ in_flight }) => in_flight > 0),
        'the sampler never saw anything in flight',
      )
    },
  },
]

async function sample(stage: Stage): Promise<{ ceiling: number; in_flight: number }> {
  const [row] = await stage.sql(
    `select q.policy, (select count(*) from belfry.lease) as in_flight from belfry.queue q where q.name = 'default'`,
  )
  return { ceiling: JSON.parse(row?.policy as string).maxConcurrent, in_flight: Number(row?.in_flight) }
}

/** A lowered ceiling revokes nothing: what is above it may only become less until it is below, and never more. */
function judgeCeiling(samples: readonly { ceiling: number; in_flight: number }[]): void {
  let allowed = Number.POSITIVE_INFINITY
  let ceilingBefore = 0
  for (const { ceiling, in_flight: inFlight } of samples) {
    if (ceiling < ceilingBefore) allowed = Math.min(allowed, ceilingBefore)
    else if (ceiling > ceilingBefore || allowed === Number.POSITIVE_INFINITY) allowed = ceiling
    assert.ok(inFlight <= allowed, `${inFlight} in flight under a ceiling of ${ceiling}, where ${allowed} was the most`)
    allowed = Math.max(ceiling, Math.min(allowed, inFlight))
    ceilingBefore = ceiling
  }
}

/** Sixteen claimers: in processes of their own where the store can be shared, else side by side in this one. */
async function claimEverything(stage: Stage, batchMax = 50): Promise<string[][]> {
  if (!stage.subject.isShared) {
    const store = await stage.openWithOwnClock()
    const { workerId } = await stage.lessor(store)
    return claimAll({ stores: [store], claimers: 16, batchMax, seed: 3, workerId, prefix: 'one' })
  }
  const children = [1, 2, 3, 4].map((seed) => stage.startChild({ task: 'claim', claimers: 4, batchMax, seed }))
  const reports = await Promise.all(children.map(({ report }) => report as Promise<string[][]>))
  return reports.flat()
}
