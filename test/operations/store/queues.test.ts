import { describe, expect, it } from 'vitest'
import { putHold } from '../../../src/store/holds/put-hold.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { findQueue } from '../../../src/store/reads/find-queue.ts'
import { stop } from '../../holding.ts'
import { actor, checkIn, inEachWard, second } from './ward.ts'

const target = { handler: 'report' }

inEachWard((ward) => {
  describe('queues:', () => {
    it('a pause is noted with its reason and how to end it, and a queue at its ceiling is not', async () => {
      const { store, clock } = ward()
      await store.do(setQueue, 'it’s shut', { paused: { reason: 'no paper' }, actor })
      await store.do(setQueue, 'default', { policy: { maxConcurrent: 1 }, actor })
      await store.enqueue([{ target }, { target }])
      await ward().leaseFor(await ward().worker())
      clock.advance(90 * second)
      expect(checkIn(await ward().doctor({ fix: true }), 'queues')).toMatchObject({
        state: 'note',
        findings: [
          {
            says: 'Queue it’s shut has been paused for 1m30s: no paper.',
            next: `belfry queue resume 'it’s shut'`,
          },
        ],
      })
      expect((await store.look(findQueue, 'it’s shut'))?.paused).not.toBeNull()
    })

    it('a policy that cannot be read is wrong, because nothing of its queue goes', async () => {
      await ward().store.do(setQueue, 'default', { actor })
      await ward().sql(`update belfry.queue set policy = '{'`)
      const { ok, checks } = await ward().doctor()
      expect(ok).toBe(false)
      expect(checks.find(({ check }) => check === 'queues')?.findings).toMatchObject([
        { subject: 'default', state: 'wrong', next: 'belfry queue set default --max-concurrent 1' },
      ])
    })

    it('that everything was stopped is noted', async () => {
      await ward().store.do(putHold, stop)
      expect(checkIn(await ward().doctor(), 'holds').findings).toMatchObject([
        {
          subject: 'everything',
          says: expect.stringContaining('Everything is stopped by ada: a fire.'),
          next: 'belfry go',
        },
      ])
    })
  })
})
