import { expect, it } from 'vitest'
import type { Outcome } from '../../../src/core/run/verdict.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { actor, checkIn, inEachWard, minute } from '../../operations/store/ward.ts'

inEachWard((ward) => {
  it('a notice that did not arrive is wrong until one to the same does, because nobody else is told of it', async () => {
    const { store } = ward()
    const url = 'https://example.org/hook'
    await store.do(setNotify, { onFailure: { http: { url } } }, { actor })
    const can = { kinds: ['http', 'handler'] }
    const workerId = await ward().worker({ can })
    const endAll = async (queue: string, outcome: Outcome) => {
      const { leases } = await store.lease({
        queue,
        workerId,
        claimId: `${queue} ${ward().clock.now()}`,
        can,
        limit: 9,
      })
      await store.settle(leases.map(({ runId, fence }) => ({ runId, fence, outcome })))
      return leases.length
    }
    const failing = async (delivered: Outcome) => {
      ward().clock.advance(10 * minute)
      await store.beat([workerId])
      await store.enqueue([{ target: { handler: 'h' }, onExhausted: 'fail' }])
      await endAll('default', { kind: 'failed', reason: 'broken', retryable: false })
      expect(await endAll('notices', delivered)).toBe(1)
      return checkIn(await ward().doctor(), 'notices')
    }
    const away = { kind: 'failed', reason: 'HTTP 410', retryable: false } as const
    expect((await failing({ kind: 'success' })).findings).toEqual([])
    expect(await failing(away)).toMatchObject({
      state: 'wrong',
      findings: [{ subject: expect.stringMatching(/^r-/), says: expect.stringContaining('HTTP 410') }],
    })
    expect((await failing(away)).findings).toHaveLength(1)
    expect((await failing({ kind: 'success' })).findings).toEqual([])
    await failing(away)
    await store.do(setNotify, { onFailure: { http: { url: `${url}/else` } } }, { actor })
    expect(checkIn(await ward().doctor(), 'notices').findings).toEqual([])
  })

  it('who is to be told and cannot be is wrong: his wish cannot be read, or nobody works for the queue of notices', async () => {
    const { store } = ward()
    const look = async () => checkIn(await ward().doctor(), 'notices')
    expect(await look()).toMatchObject({ state: 'ok', says: 'No notifications are configured.' })
    await store.do(setNotify, { onPark: { command: ['page'] } }, { actor })
    await store.do(setQueue, 'mail', { policy: { onFailure: { http: { url: 'https://example.org/' } } }, actor })
    expect((await look()).state).toBe('ok')
    const kinds = ['handler', 'command', 'http']
    await ward().worker({ can: { kinds, queues: ['default', 'mail'] } })
    expect((await look()).findings).toMatchObject([
      { subject: 'command', state: 'wrong', next: expect.stringContaining('notices') },
      { subject: 'http', state: 'wrong', next: expect.stringContaining('notices') },
    ])
    await ward().worker({ can: { kinds: ['http'], queues: ['notices'] } })
    expect((await look()).findings).toMatchObject([{ subject: 'command' }])
    await ward().worker({ can: { kinds } })
    expect(await look()).toMatchObject({ state: 'ok', says: 'Notifications can be sent.' })
    await ward().sql(`update belfry.namespace set notify = '{'`)
    await ward().sql(`update belfry.queue set policy = replace(policy, '"http"', '"handler"') where name = 'mail'`)
    expect((await look()).findings.map(({ subject, next }) => [subject, next?.slice(0, 32)]).toSorted()).toEqual([
      ['mail', 'belfry queue set mail --on-failu'],
      ['namespace', 'belfry notify --on-failure \'{"ht'],
    ])
  })
})
