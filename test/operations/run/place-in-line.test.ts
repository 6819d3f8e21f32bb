import { expect, it } from 'vitest'
import type { NewRun } from '../../../src/store/port.ts'
import { setQueue } from '../../../src/store/queues/set-queue.ts'
import { actor, hour, minute, second, startAt } from '../../store/schedule-stage.ts'
import { onEachTold } from '../explain/stage.ts'

const target = { handler: 'report' }

onEachTold('the place of a run', (told) => {
  const explain = (id: string) => told().verbs.runs.explain(id)
  const setPolicy = (policy: object) => told().stage.store.do(setQueue, 'default', { policy, actor })
  const many = (count: number, run: NewRun = {}) => {
    return told().stage.store.enqueue(Array.from({ length: count }, () => ({ target, ...run })))
  }

  it('in a queue longer than is looked at says that at least so many are before it', async () => {
    await told().worker()
    await many(1_000)
    const { code, waiting, sentence } = await explain(await told().enqueue())
    expect([code, waiting?.before, waiting?.beforeIsAtLeast]).toEqual(['concurrency-ceiling', 1_000, true])
    expect(sentence).toContain('at least 1000 runs are before it in line')
  })

  it('behind more than are looked at is not said to have room', async () => {
    await setPolicy({ maxConcurrent: 1_200 })
    await told().worker()
    const runs = [...(await many(1_000)), ...(await many(300))].map(({ id }) => id)
    expect(await explain(runs[999] ?? '')).toMatchObject({
      code: 'in-line',
      sentence: 'It is in line, and there are slots for it and for the 999 before it.',
      waiting: { before: 999, beforeIsAtLeast: false },
    })
    expect(await explain(runs[1_299] ?? '')).toMatchObject({
      sentence:
        'It is in line behind at least 1000 runs; whether there are slots for all of them and for it is not known.',
      waiting: { before: 1_000, beforeIsAtLeast: true },
      next: { what: 'Attempt 1 starts when its turn comes.' },
    })
  })

  it('behind more than are looked at, with its workers busy, is not said to have room either', async () => {
    await setPolicy({ maxConcurrent: 1_200 })
    const can = { kinds: ['handler'] }
    const workerId = await told().worker(can, 1)
    await many(1_000)
    await told().stage.store.lease({ queue: 'default', workerId, claimId: 'c', can, limit: 1 })
    await many(1)
    expect(await explain(await told().enqueue())).toMatchObject({
      code: 'workers-busy',
      sentence: 'It is in line, and the only live worker that has the handler "report" has all its slots taken.',
    })
  })

  it('behind a thousand that nobody can execute says that there are more than were looked at', async () => {
    await told().worker({ kinds: [], handlers: ['rare'] })
    await many(1_000)
    const { sentence, waiting } = await explain(await told().enqueue({ target: { handler: 'rare' } }))
    expect(sentence).toBe(
      'It is in line behind more runs than were read; whether there are slots for all of them and for it is not known.',
    )
    expect([waiting?.before, waiting?.beforeIsAtLeast]).toEqual([0, true])
  })

  it('before others is told exactly, however many wait behind it or for their instants', async () => {
    await told().worker()
    const [, second] = [await told().enqueue(), await told().enqueue()]
    await many(1_000, { notBefore: startAt + hour })
    await many(1_000)
    expect(await explain(second)).toMatchObject({ code: 'in-line', waiting: { before: 1, beforeIsAtLeast: false } })
  })

  it.each([
    ['behind a key', { concurrencyKey: 'k' }],
    ['of those whose waiting is over', { notBefore: startAt + second }],
  ])('among more than are looked at %s is not told as if all had been counted', async (_, wait) => {
    await setPolicy({ maxConcurrentPerKey: 1 })
    await told().worker()
    await told().enqueue({ concurrencyKey: 'k' })
    await told().stage.lease()
    await many(600, wait)
    const id = await told().enqueue({ priority: 150 })
    await many(600, { ...wait, priority: 200 })
    told().stage.pass(second)
    expect((await explain(id)).waiting).toMatchObject({ before: 600, beforeIsAtLeast: true })
  })

  it('under a rate has an instant of its own: each before it uses a start', async () => {
    await setPolicy({ rateLimit: { startsMax: 1, perMs: 10 * second } })
    await told().worker()
    const ids = [await told().enqueue(), await told().enqueue(), await told().enqueue(), await told().enqueue()]
    const opens = async () => {
      const answers = await Promise.all(ids.slice(1).map(explain))
      return answers.map(({ code, waiting, unblock, next }) => {
        expect([code, unblock[0]?.at, next.at]).toEqual(['rate-limit', waiting?.until, waiting?.until])
        return ((waiting?.until ?? 0) - startAt) / second
      })
    }
    // The first would go at this very instant.
    expect(await opens()).toEqual([10, 20, 30])
    await told().stage.lease(1)
    told().stage.pass(4 * second)
    expect(await opens()).toEqual([10, 20, 30])
    expect((await explain(ids[3] ?? '')).sentence).toBe(
      'Queue default has used its rate limit of 1 start in 10s, and 2 runs are before it in line.',
    )
    expect((await explain(ids[3] ?? '')).unblock[0]?.what).toBe('The rate limit lets it start, at the earliest.')
  })

  it('under a rate is the instant at which it is leased, whatever the rate', async () => {
    await setPolicy({ rateLimit: { startsMax: 3, perMs: minute } })
    await told().worker()
    await many(2)
    await told().stage.lease()
    told().stage.pass(20 * second)
    const runs = (await many(7)).map(({ id }) => id)
    const promised = await Promise.all(
      runs.map(async (id) => (await explain(id)).waiting?.until ?? startAt + 20 * second),
    )
    const leased = new Map<string, number>()
    for (const at of [...new Set(promised)].sort((a, b) => a - b)) {
      told().stage.to(at - 1)
      if (at > startAt + 20 * second) expect(await told().stage.lease()).toEqual([])
      told().stage.to(at)
      for (const { runId } of await told().stage.lease()) leased.set(runId, at)
    }
    expect(runs.map((id) => leased.get(id))).toEqual(promised)
  })

  it('under a rate is not put off for those before it that their key or their deadline keeps from starting', async () => {
    await setPolicy({ rateLimit: { startsMax: 1, perMs: 10 * second }, maxConcurrentPerKey: 1 })
    await told().worker()
    await told().enqueue({ concurrencyKey: 'k' })
    await told().stage.lease()
    told().stage.pass(second)
    const [first] = [
      await told().enqueue({ priority: 1, concurrencyKey: 'j' }),
      await told().enqueue({ priority: 2, concurrencyKey: 'j' }),
      await told().enqueue({ priority: 3, deadline: startAt + 15 * second }),
    ]
    const id = await told().enqueue()
    const until = async (run: string) => ((await explain(run)).waiting?.until ?? 0) - startAt
    expect([await until(first), await until(id)]).toEqual([10 * second, 20 * second])
  })
})
