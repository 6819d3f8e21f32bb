import { expect, it } from 'vitest'
import { actor, checkIn, inEachWard } from './ward.ts'

inEachWard((ward) => {
  it('who is to be told and cannot be is wrong: his wish cannot be read, or nobody works for the queue of notices', async () => {
    const { store } = ward()
    const look = async () => checkIn(await ward().doctor(), 'notices')
    expect(await look()).toMatchObject({ state: 'ok', says: 'Nobody wants to be told of failures.' })
    await store.setNotify({ onPark: { command: ['page'] } }, { actor })
    await store.setQueue('mail', { notify: { onFailure: { http: { url: 'https://example.org/' } } }, actor })
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
    expect(await look()).toMatchObject({ state: 'ok', says: 'Who wants to be told of failures can be.' })
    await ward().sql(`update belfry.namespace set notify = '{'`)
    await ward().sql(`update belfry.queue set notify = '[]' where name = 'mail'`)
    expect((await look()).findings.map(({ subject, next }) => [subject, next?.slice(0, 32)]).toSorted()).toEqual([
      ['mail', 'belfry queue set mail --on-failu'],
      ['namespace', 'belfry notify --on-failure \'{"ht'],
    ])
  })
})
