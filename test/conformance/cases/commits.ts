import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { BelfryError } from '../../../src/core/error.ts'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import type { Announcement } from '../child.ts'
import {
  actor,
  anyHandler,
  type Case,
  cannotShare,
  enqueueMany,
  noop,
  type Stage,
  type Subject,
  seeded,
} from '../place.ts'
import { assertEachRunStandsOnce, count } from '../record.ts'

const minute = 60_000
const moments = ['before', 'after'] as const
type Moment = (typeof moments)[number]

export const commits: Case[] = [
  ...moments.map((when): Case => {
    return {
      name: `a lease whose connection breaks off ${when} its commit: leasesOf tells all of it or nothing, and nothing is lost`,
      skip: cannotCut,
      async run(stage) {
        const store = await stage.openFragile()
        const ids = await enqueueMany(store, 5, () => noop())
        const { workerId, lease } = await stage.lessor(store)
        const claimId = stage.claimId()
        const request = { queue: 'default', workerId, claimId, can: anyHandler, limit: 3, leaseMs: minute }
        await breaksOff(stage, when, () => store.lease(request))
        const granted = (await store.look(leasesOf, claimId)).map(({ runId }) => runId)
        assert.deepEqual(granted, when === 'before' ? [] : ids.slice(0, 3))
        const rest = (await lease(5)).map(({ runId }) => runId)
        assert.deepEqual([...granted, ...rest], ids)
        await assertEachRunStandsOnce(stage)
      },
    }
  }),
  ...moments.map((when): Case => {
    return {
      name: `a settle whose connection breaks off ${when} its commit: asking again tells, and each end is recorded once`,
      skip: cannotCut,
      async run(stage) {
        const store = await stage.openFragile()
        await enqueueMany(store, 4, (index) => noop(index % 2 === 0 ? {} : { dedupeKey: `d${index}` }))
        const { lease } = await stage.lessor(store)
        const ending = (await lease(4)).map((one) => ({ ...one, outcome: { kind: 'success' } as const }))
        await breaksOff(stage, when, () => store.settle(ending))
        const told = (await store.settle(ending)).map(({ answer }) => answer)
        // The plain ends are a transaction of their own, and theirs was the commit that broke off.
        const plain = when === 'before' ? 'written' : 'already-written'
        assert.deepEqual(told, [plain, 'written', plain, 'written'])
        assert.equal(await count(stage, 'belfry.attempt'), 4)
        assert.equal(await count(stage, 'belfry.dedupe'), 0)
        await assertEachRunStandsOnce(stage)
      },
    }
  }),
  ...moments.map((when): Case => {
    return {
      name: `an enqueue whose connection breaks off ${when} its commit: asking again with the key gives one and the same run`,
      skip: cannotCut,
      async run(stage) {
        const store = await stage.openFragile()
        const runs = [noop({ idempotencyKey: 'a' }), noop({ idempotencyKey: 'b', payload: 1 })]
        await breaksOff(stage, when, () => store.enqueue(runs))
        const again = await store.enqueue(runs)
        assert.deepEqual(
          again.map(({ created }) => created),
          when === 'before' ? [true, true] : [false, false],
        )
        const once = await store.enqueue(runs)
        assert.deepEqual(
          once.map(({ id, created }) => ({ id, created })),
          again.map(({ id }) => ({ id, created: false })),
        )
        assert.equal(await count(stage, 'belfry.run'), 2)
      },
    }
  }),
  ...moments.map((when): Case => {
    return {
      name: `a fire whose connection breaks off ${when} its commit: firing again leaves one run an occurrence`,
      skip: cannotCut,
      async run(stage) {
        const store = await stage.openFragile()
        for (const name of ['a', 'b', 'c']) {
          const timing = { cron: '* * * * *', zone: 'UTC' }
          await store.do(
            putSchedule,
            { name, timing, overlap: 'allow', target: { handler: 'noop' } },
            { mode: 'put', actor },
          )
        }
        stage.clock.advance(minute)
        await breaksOff(stage, when, () => store.fireDue({ limit: 10 }))
        assert.equal((await store.fireDue({ limit: 10 })).runs.length, when === 'before' ? 3 : 0)
        assert.equal(await count(stage, 'belfry.ready'), 3)
        assert.equal(await count(stage, 'belfry.ledger'), 3)
      },
    }
  }),
  {
    name: 'law 14: processes killed at any moment of their claims: each claim is there wholly or not at all, each run once',
    skip: cannotShare,
    run: killClaimers,
  },
]

function cannotCut({ dialect }: Subject): string | undefined {
  return dialect === 'postgres' ? undefined : 'there is no connection that could break off'
}

async function breaksOff(stage: Stage, when: Moment, step: () => Promise<unknown>): Promise<void> {
  stage.place.fragile?.cutNextCommit(when)
  await assert.rejects(step, (error) => error instanceof BelfryError && error.code === 'commit-unknown')
}

/** SQLite has only its file to show what a killed process left; PostgreSQL's own processes are not those that are killed. */
const roundsMax = { sqlite: 5, postgres: 1 }
const childrenMax = 4

/** Whole rounds of killers: those who start next find what the killed ones left, and go on with it. */
async function killClaimers(stage: Stage): Promise<void> {
  const store = await stage.openWithOwnClock()
  await stage.setPolicy(store, { maxConcurrent: 1_000_000 })
  const runsMax = 8_000
  await enqueueMany(store, runsMax, () => noop())
  const random = seeded(1_907)
  const announced: Announcement[] = []
  for (let round = 0; round < roundsMax[stage.subject.dialect]; round++) {
    const children = Array.from({ length: childrenMax }, () =>
      stage.startChild({ task: 'announce-claims', seed: 1 + random(1_000) }),
    )
    await Promise.all(children.map(({ said }) => said))
    for (const child of children) {
      await pause(random(12))
      await child.kill()
    }
    for (const { heard } of children) announced.push(...(heard as Announcement[]))
  }
  await judgeClaims(stage, announced)
  await assertEachRunStandsOnce(stage)
  assert.equal(await count(stage, 'belfry.run'), runsMax)
  if (stage.subject.dialect === 'sqlite') {
    assert.deepEqual(await stage.sql('pragma quick_check'), [{ quick_check: 'ok' }])
  }
}

/** What a claim may have left, by the last word that was heard about it. */
async function judgeClaims(stage: Stage, announced: readonly Announcement[]): Promise<void> {
  const lastWords = new Map(announced.map((one) => [one.claimId, one]))
  const rows = await stage.sql('select claim_id, count(*) as leases from belfry.lease group by claim_id')
  const leases = new Map(rows.map((row) => [row.claim_id as string, Number(row.leases)]))
  for (const claimId of leases.keys()) assert.ok(lastWords.has(claimId), `nobody announced ${claimId}`)
  for (const { claimId, limit, step } of lastWords.values()) {
    const possible = { lease: [0, limit], leased: [limit], settle: [0, limit], settled: [0] }[step]
    const found = leases.get(claimId) ?? 0
    assert.ok(possible.includes(found), `${claimId} was last heard of at "${step}" with ${found} of ${limit} leases`)
  }
  // Whoever was killed between two announcements was killed inside the store.
  const inside = [...lastWords.values()].filter(({ step }) => step === 'lease' || step === 'settle').length
  assert.ok(inside > 0, 'every kill came between the steps: none of them shows anything')
}
