import assert from 'node:assert/strict'
import { type Notice, noticeQuietMs, overdueAgainMs } from '../../../src/parts/notices/notice.ts'
import { noticeOverdue } from '../../../src/parts/notices/notice-overdue.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import type { Store } from '../../../src/store/port.ts'
import { putSchedule } from '../../../src/store/schedules/put-schedule.ts'
import { actor, type Case, cannotShare, enqueueMany, noop, type Stage } from '../place.ts'

const http = { http: { url: 'https://example.org/' } }
const broken = { kind: 'failed', reason: 'broken', retryable: false } as const

/** Takes all notices that wait, and answers what they say. */
async function taken(stage: Stage, store: Store): Promise<Notice[]> {
  const { lease } = await stage.lessor(store, { queue: 'notices', can: { kinds: ['http'] } })
  const leases = await lease(1_000)
  await store.settle(leases.map((held) => ({ ...held, outcome: { kind: 'success' } as const })))
  return leases.map(({ payload }) => payload as Notice)
}

export const notices: Case[] = [
  {
    name: 'an end and its notice are one step: each subject is told once, whatever races, and all else is counted',
    skip: cannotShare,
    async run(stage) {
      const stores = await stage.openMany(4)
      const [first] = stores as [Store]
      await first.do(setNotify, { onFailure: http }, { actor })
      await stage.setPolicy(first, { maxConcurrent: 1_000, onExhausted: 'fail' })
      await enqueueMany(first, 200, () => noop())
      const { lease } = await stage.lessor(first)
      const leases = await lease(200)
      const settled = await Promise.all(
        stores.map((store, turn) => {
          // Every end is told by two of them, and one is heard.
          const own = leases.filter((_, index) => index % 4 === turn || (index + 1) % 4 === turn)
          return store.settle(own.map((held) => ({ ...held, outcome: broken })))
        }),
      )
      const written = settled.flat().filter(({ answer }) => answer === 'written')
      assert.equal(written.length, 200)
      assert.equal((await taken(stage, first)).length, 1)
      stage.clock.advance(noticeQuietMs)
      await enqueueMany(first, 1, () => noop())
      const { lease: leaseAgain } = await stage.lessor(first)
      await first.settle((await leaseAgain(1)).map((held) => ({ ...held, outcome: broken })))
      assert.deepEqual(
        (await taken(stage, first)).map(({ event, suppressed }) => ({ event, suppressed })),
        [{ event: 'failure', suppressed: 199 }],
      )
    },
  },
  {
    name: 'what is overdue is told once, though everybody looks at the same moment',
    skip: cannotShare,
    async run(stage) {
      const stores = await stage.openMany(4)
      const [first] = stores as [Store]
      for (const name of ['a', 'b', 'c']) {
        const spec = { name, timing: { everyMs: 60_000 }, target: { handler: 'noop' }, onOverdue: http }
        await first.do(putSchedule, spec, { mode: 'put', actor })
      }
      stage.clock.advance(10 * 60_000)
      for (let looks = 0; looks < 3; looks++) {
        await Promise.all(stores.map((store) => store.do(noticeOverdue, { limit: 100 })))
        stage.clock.advance(overdueAgainMs)
      }
      const told = (await taken(stage, first)).map(({ event, schedule }) => `${event} ${schedule}`)
      assert.deepEqual(told.sort(), ['overdue a', 'overdue b', 'overdue c'])
    },
  },
]
