import { describe, expect, it } from 'vitest'
import { atDesk, errorOf, problemsIn, startAt, verbsAt } from '../../operations/desk.ts'

const desk = atDesk()
const { sched, runs, queues, workers } = verbsAt(() => desk().context)

async function enqueued(count: number, more: object = {}): Promise<string[]> {
  const answers = await runs.enqueueMany(
    Array.from({ length: count }, (_, payload) => ({ target: null, payload, ...more })),
  )
  return answers.map(({ id }) => id as string)
}

async function leased(host = 'builder', more: object = {}): Promise<{ lease: string; runId: string; fence: number }> {
  const { leases } = await sched.lease({ host, ...more })
  const [lease] = leases
  if (lease === undefined) return expect.unreachable('nothing was handed out')
  return lease
}

describe('a lease of an outside host', () => {
  it('is handed out in queue order, with all that its holder needs, and under an id that only he was told', async () => {
    const [first, second] = await enqueued(2, { tags: ['t'], timeout: '5s', idempotencyKey: undefined })
    const { leases, reclaimed, stopped, repeated } = await sched.lease('builder', { limit: 5 })
    expect(leases.map(({ runId }) => runId)).toEqual([first, second])
    expect(leases[0]).toMatchObject({
      fence: 1,
      queue: 'default',
      attempts: 0,
      payload: 0,
      target: null,
      idempotencyKey: first,
      tags: ['t'],
      timeoutMs: 5_000,
      expiresAt: startAt + 300_000,
    })
    expect(leases[0]?.lease).toMatch(/^r-\w+\.1\.[0-9a-f]{32}$/)
    expect({ reclaimed, stopped, repeated }).toEqual({ reclaimed: [], stopped: null, repeated: false })
    expect((await workers.list()).map(({ name, can }) => [name, can])).toEqual([['builder', { kinds: [], host: true }]])
  })

  it('is of work without a target, unless the host says what else it can do', async () => {
    await runs.enqueue({ target: { http: { url: 'https://example.org' } } })
    await runs.enqueue({ target: { handler: 'report' } })
    expect((await sched.lease('builder', { limit: 5 })).leases).toEqual([])
    expect((await sched.lease('caller', { limit: 5, kinds: ['http'] })).leases).toHaveLength(1)
    expect((await sched.lease('reporter', { limit: 5, handlers: ['report'] })).leases).toHaveLength(1)
  })

  it('is never past the ceiling, not even when the leases in the way have expired', async () => {
    await queues.set('default', { maxConcurrent: 2, maxAttempts: 5 })
    const ids = await enqueued(5)
    expect((await sched.lease('a', { limit: 5 })).leases).toHaveLength(2)
    expect((await sched.lease('b', { limit: 5 })).leases).toEqual([])
    desk().clock.advance(300_000)
    const { leases, reclaimed } = await sched.lease('b', { limit: 5 })
    expect(reclaimed.map(({ runId, status, because }) => [runId, status, because])).toEqual([
      [ids[0], 'ready', 'expired'],
      [ids[1], 'ready', 'expired'],
    ])
    expect(leases.map(({ runId }) => runId)).toEqual([ids[2], ids[3]])
  })

  it('that is not granted because the queue is at its ceiling says so, and no other says it', async () => {
    await queues.set('default', { maxConcurrent: 2 })
    expect(await sched.lease('a')).toMatchObject({ leases: [], full: false, stopped: null })
    await enqueued(3)
    const { leases, full } = await sched.lease('a', { limit: 5, requestKey: 'k-1' })
    expect([leases.length, full]).toEqual([2, false])
    expect(await sched.lease('b')).toMatchObject({ leases: [], full: true, stopped: null, more: false })
    expect(await queues.drain('default', { host: 'b' })).toMatchObject({ runs: [], full: true })
    expect(await sched.lease('a', { limit: 5, requestKey: 'k-1' })).toMatchObject({ repeated: true, full: false })
    await queues.pause('default')
    expect(await sched.lease('b')).toMatchObject({ leases: [], full: false, stopped: 'held-by' })
  })

  it('is refused where it names a kind of target that does not exist, with the nearest that does', async () => {
    const kinds = ['comand'] as never
    const problem = {
      field: 'kinds[0]',
      problem: 'is "comand"',
      expected: 'command, if that was meant; one of command, http, handler, agent, inbox',
    }
    expect(await problemsIn(sched.lease('builder', { kinds }))).toEqual([problem])
    expect(await problemsIn(sched.plan({ kinds }))).toEqual([problem])
    expect(await problemsIn(queues.drain('default', { host: 'builder', kinds }))).toEqual([problem])
    // A handler is named by whoever has it, so that every name may be right.
    expect((await sched.lease('builder', { handlers: ['comand'] })).leases).toEqual([])
  })

  it('is not handed out by a paused queue, nor by one that does not exist, and the answer says which it is', async () => {
    await enqueued(1)
    await queues.pause('default')
    expect(await sched.lease('builder')).toMatchObject({ leases: [], stopped: 'held-by' })
    expect(await sched.lease('builder', { queue: 'defualt' })).toMatchObject({ leases: [], stopped: 'no-queue' })
  })

  it('is granted once for a request key', async () => {
    await enqueued(4)
    const first = await sched.lease('builder', { limit: 2, requestKey: 'k-1' })
    const again = await sched.lease('builder', { limit: 2, requestKey: 'k-1' })
    expect(again).toMatchObject({ repeated: true, over: [], leases: first.leases })
    await sched.complete(first.leases[0]?.lease ?? '')
    const later = await sched.lease('builder', { limit: 2, requestKey: 'k-1' })
    expect(later.leases).toEqual(first.leases.slice(1))
    expect(later.over).toEqual([{ runId: first.leases[0]?.runId, fence: 1 }])
    const error = await errorOf(sched.lease('builder', { limit: 3, requestKey: 'k-1' }))
    expect(error).toMatchObject({ code: 'conflict', details: { requestKey: 'k-1' } })
  })
})

it('what a request key was granted is told to nobody else who asks with it', async () => {
  await enqueued(2)
  await sched.lease('builder', { requestKey: 'k-1' })
  const other = verbsAt(() => ({ ...desk().context, actor: { name: 'somebody else', door: 'test' } }))
  expect((await errorOf(other.sched.lease('builder', { requestKey: 'k-1' }))).code).toBe('conflict')
})

describe('the end of a lease', () => {
  it('completes its run with a result, once: who tells it again hears what happened', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    expect(await sched.complete(lease, { result: { rows: 3 } })).toMatchObject({ runId, status: 'completed' })
    expect((await runs.get(runId)).result).toEqual({ value: { rows: 3 }, truncated: false })
    const error = await errorOf(sched.complete(lease, { result: { rows: 4 } }))
    expect(error.code).toBe('conflict')
    expect(error.message).toBe(
      `Lease 1 of run ${runId} is over: it was completed at 2026-01-05T09:00:00.000Z, which ended the run as completed; the run is completed.`,
    )
    expect(error.details).toMatchObject({ ended: { outcome: 'success' }, run: { status: 'completed' } })
    expect((await runs.get(runId)).result).toEqual({ value: { rows: 3 }, truncated: false })
  })

  it('is accepted late, until somebody has taken the lease back, and refused from then on', async () => {
    await enqueued(2)
    const [first, second] = [await leased(), await leased()]
    desk().clock.advance(600_000)
    expect(await sched.complete(first.lease)).toMatchObject({ status: 'completed' })
    await sched.reclaim()
    const error = await errorOf(sched.complete(second.lease))
    expect(error.message).toMatch(/it expired and was reclaimed \(lease expired\) at .*; the run is ready\.$/)
    expect((await runs.get(second.runId)).attempts).toBe(1)
    const third = await errorOf(sched.release(second.lease, { failed: true, reason: 'x' }))
    expect(third).toMatchObject({ code: 'conflict', details: { run: { status: 'ready' } } })
  })

  it('gives a run back cleanly, so that the next host has it at once, under another number', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    expect(await sched.release(lease)).toMatchObject({ status: 'ready', reason: 'released', nextEligibleAt: null })
    const next = await leased('other')
    expect(next).toMatchObject({ runId, fence: 2 })
    const error = await errorOf(sched.complete(lease))
    expect(error.message).toMatch(/it was released \(released\) at .*; the run is leased again, as attempt 2\.$/)
  })

  it('as failed uses an attempt and backs off, at least to the instant that was asked for', async () => {
    await queues.set('default', { maxAttempts: 5 })
    await enqueued(2)
    const [first, second] = [await leased(), await leased()]
    expect(await sched.release(first.lease, { failed: true, reason: '503' })).toEqual({
      runId: first.runId,
      fence: 1,
      status: 'ready',
      reason: '503',
      nextEligibleAt: startAt + 1_000,
    })
    const answer = await sched.release(second.lease, { failed: true, reason: '503', retryAt: '2026-01-05T09:10Z' })
    expect(answer.nextEligibleAt).toBe(startAt + 600_000)
    expect((await runs.get(first.runId)).attempts).toBe(1)
  })

  it('as failed for good parks the run, and so does the last attempt of its budget, in the words of the vectors', async () => {
    await queues.set('default', { maxAttempts: 1 })
    await enqueued(2)
    const [first, second] = [await leased(), await leased()]
    const fatal = await sched.release(first.lease, { failed: true, reason: 'no customer', fatal: true })
    expect(fatal).toMatchObject({ status: 'parked', reason: 'no customer (not retryable)' })
    const last = await sched.release(second.lease, { failed: true, reason: '503' })
    expect(last).toMatchObject({ status: 'parked', reason: '503 (attempt 1/1)' })
  })

  it('parks a run for a person, which uses nothing of its budget', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    expect(await sched.park(lease, { reason: 'names no customer' })).toMatchObject({ status: 'parked' })
    expect(await runs.get(runId)).toMatchObject({ attempts: 0, parked: { reason: 'names no customer' } })
  })

  it('refuses what does not go together, whole', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    expect(await problemsIn(sched.release(lease, { reason: 'x', fatal: true }))).toHaveLength(2)
    expect(await problemsIn(sched.release(lease, { failed: true }))).toMatchObject([{ field: 'reason' }])
    const both = { failed: true, reason: 'x', fatal: true, retryAt: '2026-01-05T10:00Z', retryable: true }
    expect((await problemsIn(sched.release(lease, both))).map(({ field }) => field)).toEqual(['retryAt', 'retryable'])
    const past = { failed: true, reason: 'x', retryAt: '2026-01-05T08:00Z' }
    expect(await problemsIn(sched.release(lease, past))).toMatchObject([{ field: 'retryAt' }])
    expect((await runs.get(runId)).status).toBe('leased')
  })

  it('needs the whole id: a number that was never handed out, or another claim, ends nothing', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    const forged = `${lease.slice(0, -1)}${lease.endsWith('0') ? '1' : '0'}`
    for (const strange of [forged, lease.replace('.1.', '.2.')]) {
      const error = await errorOf(sched.complete(strange))
      expect(error).toMatchObject({ code: 'not-found', message: `There is no such lease of run ${runId}.` })
    }
    expect(await problemsIn(sched.complete('r-15'))).toMatchObject([{ field: 'lease' }])
    expect((await errorOf(sched.complete('r-3zzz.1.abc'))).code).toBe('not-found')
    expect((await runs.get(runId)).status).toBe('leased')
  })
})

describe('a renewal', () => {
  it('lasts the whole time from now by the policy of this moment, and carries that its end was asked for', async () => {
    await enqueued(1)
    const { lease, runId } = await leased()
    desk().clock.advance(200_000)
    expect(await sched.renew(lease)).toMatchObject({
      renewed: true,
      expiresAt: startAt + 500_000,
      cancelRequestedAt: null,
    })
    await queues.set('default', { leaseTtl: '10m' })
    await runs.cancel(runId)
    expect(await sched.renew(lease)).toMatchObject({
      expiresAt: startAt + 800_000,
      cancelRequestedAt: startAt + 200_000,
    })
    expect(await sched.release(lease)).toMatchObject({ status: 'cancelled' })
    expect((await errorOf(sched.renew(lease))).code).toBe('conflict')
  })

  it('of many has an answer for each, and keeps the host alive', async () => {
    await enqueued(2)
    const [first, second] = [await leased(), await leased()]
    await sched.complete(first.lease)
    desk().clock.advance(599_000)
    const [over, held] = await sched.renewMany({ leases: [first.lease, second.lease] })
    expect(over).toMatchObject({
      renewed: false,
      expiresAt: null,
      problem: expect.stringContaining('it was completed'),
    })
    expect(held).toMatchObject({ lease: second.lease, renewed: true })
    desk().clock.advance(599_000)
    expect(await workers.list()).toMatchObject([{ name: 'builder', isLive: true }])
  })
})

describe('parked runs', () => {
  it('are reset by their ids, or by queue and reason, each with its own answer', async () => {
    await enqueued(3)
    await enqueued(1, { queue: 'mail' })
    for (const reason of ['HTTP 503', 'HTTP 503', 'no customer']) await sched.park((await leased()).lease, { reason })
    const { lease, runId } = await leased('builder', { queue: 'mail' })
    await sched.park(lease, { reason: 'HTTP 503' })
    const some = await sched.reset({ queue: 'default', reasonIncludes: '503', limit: 1 })
    expect(some).toMatchObject({ more: true, left: [] })
    expect(await sched.reset({ queue: 'default', reasonIncludes: '503' })).toMatchObject({ more: false })
    const { runs: still } = await runs.list({ status: 'parked' })
    expect(still.map(({ parked }) => parked?.reason).sort()).toEqual(['HTTP 503', 'no customer'])
    expect(await sched.reset({ ids: [runId, runId, 'r-3zzz'] })).toEqual({
      reset: [runId],
      left: [{ id: 'r-3zzz', why: 'there is no such run' }],
      more: false,
    })
  })

  it('are refused as a conflict, with the list, when none of those named is parked', async () => {
    const [first, second] = (await enqueued(2)) as [string, string]
    const error = await errorOf(sched.reset({ ids: [first, second, 'r-3zzz'] }))
    expect(error).toMatchObject({
      code: 'conflict',
      message: `No run was reset. ${first}: it is not parked; ${second}: it is not parked; r-3zzz: there is no such run.`,
      details: {
        left: [
          { id: first, why: 'it is not parked' },
          { id: second, why: 'it is not parked' },
          { id: 'r-3zzz', why: 'there is no such run' },
        ],
      },
    })
    expect((await errorOf(sched.reset({ ids: ['r-3zzz'] }))).code).toBe('not-found')
    const nothing = await errorOf(sched.reset({ queue: 'default', reasonIncludes: '404' }))
    expect(nothing).toMatchObject({
      code: 'conflict',
      message: 'No run was reset. No run of queue "default" with "404" in its reason is parked.',
    })
  })

  it('are not reset by nothing, nor by two ways at once', async () => {
    expect(await problemsIn(sched.reset({}))).toMatchObject([{ field: 'ids' }])
    expect(await problemsIn(sched.reset({ ids: ['r-11'], queue: 'mail' }))).toMatchObject([{ field: 'queue' }])
    expect((await errorOf(sched.reset({ queue: 'nowhere' }))).code).toBe('not-found')
  })
})

describe('a drain', () => {
  it('takes the next runs as completed, under the ceiling', async () => {
    await queues.set('default', { maxConcurrent: 2 })
    const ids = await enqueued(3)
    const { runs: taken } = await queues.drain('default', { host: 'script', limit: 10 })
    expect(taken.map(({ runId, payload }) => [runId, payload])).toEqual([
      [ids[0], 0],
      [ids[1], 1],
    ])
    expect((await runs.get(ids[0] as string)).status).toBe('completed')
    expect((await runs.get(ids[2] as string)).status).toBe('ready')
  })

  it('of a queue that is named takes no run of the default queue', async () => {
    const [inDefault] = (await enqueued(1)) as [string]
    const [inLetters] = (await enqueued(1, { queue: 'letters' })) as [string]
    const { queue, runs: taken } = await queues.drain('letters', { host: 'script' })
    expect([queue, taken.map(({ runId }) => runId)]).toEqual(['letters', [inLetters]])
    expect(await problemsIn(queues.drain('letters', {} as never))).toMatchObject([{ field: 'host' }])
    expect((await runs.get(inDefault)).status).toBe('ready')
  })
})

describe('another priority', () => {
  it('moves a run that waits, and not one that is at work', async () => {
    const [first, second] = (await enqueued(2)) as [string, string]
    expect(await runs.reprioritise(second, { priority: 1 })).toEqual({ id: second, before: 100, priority: 1 })
    expect((await leased()).runId).toBe(second)
    const error = await errorOf(runs.reprioritise(second, { priority: 2 }))
    expect(error).toMatchObject({ code: 'conflict', details: { status: 'leased' } })
    expect((await errorOf(runs.reprioritise('r-3zzz', { priority: 2 }))).code).toBe('not-found')
    expect((await leased()).runId).toBe(first)
  })
})
