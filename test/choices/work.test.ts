import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Capabilities, planLeases } from '../../src/core/queue/plan-leases.ts'
import type { Belfry } from '../../src/index.ts'
import type { Store } from '../../src/store/port.ts'
import { planInput } from '../../src/store/reads/plan-input.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import { all, both } from '../../src/store/statement.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { errorOf } from '../operations/desk.ts'
import { at, day, Gate, hour, minute, open, portOf, sqliteFile, target } from './stage.ts'

/** A host or another worker asks for all that it can execute. */
async function leasedBy(port: Store, can: Capabilities): Promise<string[]> {
  const workerId = await port.do(registerWorker, { name: 'host', host: 'elsewhere', can, beatMs: minute })
  const { leases } = await port.lease({ queue: 'default', workerId, claimId: `of ${workerId}`, can, limit: 10 })
  return leases.map(({ runId }) => runId)
}

describe('who can execute what', () => {
  it('a worker gets the handlers it has, by name, and what it cannot execute stays where it is', async () => {
    const stage = await open()
    const { id } = await stage.belfry.runs.enqueue({ target: { handler: 'other' } })
    const own = await stage.belfry.runs.enqueue({ target })
    await stage.belfry.drain()
    expect(await stage.belfry.runs.get(own.id)).toMatchObject({ status: 'completed' })
    expect(await stage.belfry.runs.get(id)).toMatchObject({ status: 'ready', fence: 0 })
    stage.belfry.handle('other', () => 'mine')
    await stage.belfry.drain()
    expect(await stage.belfry.runs.get(id)).toMatchObject({ status: 'completed', fence: 1 })
  })

  it('whoever asks gets the kinds he names, handlers by name, and nothing else', async () => {
    const store = sqliteFile()
    const { belfry, clock } = await open({ store })
    const http = await belfry.runs.enqueue({ target: { http: { url: 'http://example.org/' } } })
    const command = await belfry.runs.enqueue({ target: { command: ['true'] } })
    const a = await belfry.runs.enqueue({ target: { handler: 'a' } })
    const b = await belfry.runs.enqueue({ target: { handler: 'b' } })
    await belfry.queues.set('default', { maxConcurrent: 100 })
    const port = await portOf(store, clock)
    expect(await leasedBy(port, { kinds: [] })).toEqual([])
    expect(await leasedBy(port, { kinds: [], handlers: ['b', 'c'] })).toEqual([b.id])
    expect(await leasedBy(port, { kinds: ['http'] })).toEqual([http.id])
    expect(await leasedBy(port, { kinds: ['command', 'handler'] })).toEqual([command.id, a.id])
  })

  it('work without a target goes to hosts alone, and a host gets a target only of a kind it asks for', async () => {
    const store = sqliteFile()
    const { belfry, clock } = await open({ store })
    const bare = await belfry.runs.enqueue({ target: null, payload: 'to whom it may concern' })
    const command = await belfry.runs.enqueue({ target: { command: ['true'] }, notBefore: at('10:00') })
    await belfry.drain()
    expect(await belfry.runs.get(bare.id)).toMatchObject({ status: 'ready', fence: 0 })
    const port = await portOf(store, clock)
    expect(await leasedBy(port, { kinds: ['handler', 'command', 'http'] })).toEqual([])
    clock.set(at('10:00').getTime())
    expect(await leasedBy(port, { kinds: [], host: true })).toEqual([bare.id])
    expect(await leasedBy(port, { kinds: ['command'], host: true })).toEqual([command.id])
  })

  it('a ready run that no live worker can execute is shown as no-worker', async () => {
    const store = sqliteFile()
    const { belfry, clock } = await open({ store })
    const port = await portOf(store, clock)
    const shown = async () => {
      const can = (await belfry.workers.list()).filter(({ isLive }) => isLive).map((worker) => worker.can)
      const { skipped } = planLeases({ ...(await port.look(planInput, 'default', 100)), can })
      return Object.fromEntries(skipped.map(({ id, reason }) => [id, reason]))
    }
    await belfry.start()
    const other = await belfry.runs.enqueue({ target: { handler: 'other' } })
    const later = await belfry.runs.enqueue({ target, notBefore: at('10:00') })
    expect(await shown()).toEqual({ [later.id]: 'not-before', [other.id]: 'no-worker' })
    await belfry.stop()
    const { id } = await belfry.runs.enqueue({ target })
    expect(await shown()).toEqual({ [later.id]: 'not-before', [other.id]: 'no-worker', [id]: 'no-worker' })
  })

  it('a worker leases only what it starts at once: as many as it has slots, or as the ceiling allows', async () => {
    for (const [slots, atOnce] of [
      [2, 2],
      [undefined, 4],
    ]) {
      const gate = new Gate()
      const stage = await open({ work: gate.pass })
      const statuses = async () => {
        const { runs } = await stage.belfry.runs.list({ queue: 'default' })
        return runs.filter(({ status }) => status === 'leased').length
      }
      await stage.belfry.queues.set('default', { maxConcurrent: 4 })
      await stage.belfry.runs.enqueueMany(Array.from({ length: 9 }, () => ({ target })))
      await stage.belfry.start(slots === undefined ? {} : { slots })
      await stage.passTo('09:10')
      expect([stage.seen.length, await statuses()]).toEqual([atOnce, atOnce])
      gate.open()
      await stage.until('run.completed', 9)
    }
  })
})

describe('idempotency', () => {
  it('the same key with the same work is the first run, and with other work a conflict', async () => {
    const stage = await open()
    const first = await stage.belfry.runs.enqueue({ target, payload: { a: 1, b: 2 }, idempotencyKey: 'k' })
    expect(first).toMatchObject({ created: true })
    const again = await stage.belfry.runs.enqueue({ target, payload: { b: 2, a: 1 }, idempotencyKey: 'k' })
    expect(again).toEqual({ created: false, id: first.id, because: 'idempotency-key' })
    const error = await errorOf(stage.belfry.runs.enqueue({ target, payload: { a: 2 }, idempotencyKey: 'k' }))
    expect(error).toMatchObject({ code: 'conflict', details: { id: first.id, key: 'k' } })
    await stage.belfry.drain()
    expect(stage.seen).toHaveLength(1)
  })

  it('holds for 30 days whatever becomes of the run, and not for longer', async () => {
    const stage = await open({
      work: ({ payload }) => {
        if (payload === 'failed') throw Object.assign(new Error('no'), { retryable: false })
      },
    })
    await stage.belfry.queues.set('default', { onExhausted: 'fail' })
    const ways = ['completed', 'failed', 'cancelled'] as const
    const enqueue = (way: string) => stage.belfry.runs.enqueue({ target, payload: way, idempotencyKey: way })
    const first = await Promise.all(ways.map(enqueue))
    await stage.belfry.runs.cancel(first[2]?.id ?? '')
    await stage.belfry.drain()
    for (const [index, way] of ways.entries()) {
      expect(await stage.belfry.runs.get(first[index]?.id ?? '')).toMatchObject({ status: way })
    }
    await stage.drainTo(stage.clock.now() + 30 * day - 1)
    expect((await errorOf(stage.belfry.runs.get(first[0]?.id ?? ''))).code).toBe('not-found')
    const known = first.map(({ id }) => ({ created: false, id, because: 'idempotency-key' }))
    expect(await Promise.all(ways.map(enqueue))).toEqual(known)
    await stage.drainTo(stage.clock.now() + hour)
    expect(await Promise.all(ways.map(enqueue))).toMatchObject(ways.map(() => ({ created: true })))
  })

  it('is unique in a namespace and means nothing in another', async () => {
    const store = sqliteFile()
    const one = await open({ store, namespace: 'one' })
    const two = await open({ store, namespace: 'two' })
    const enqueue = ({ belfry }: { belfry: Belfry }, payload: number) => {
      return belfry.runs.enqueue({ target, payload, idempotencyKey: 'k' })
    }
    const [first, second] = [await enqueue(one, 1), await enqueue(two, 2)]
    expect([first.created, second.created]).toEqual([true, true])
    expect(await enqueue(one, 1)).toMatchObject({ created: false, id: first.id })
    expect(await enqueue(two, 2)).toMatchObject({ created: false, id: second.id })
  })

  it('is not what a dedupe key is, which holds only while its run is live', async () => {
    const gate = new Gate()
    const stage = await open({ work: gate.pass })
    const enqueue = (payload: number) => stage.belfry.runs.enqueue({ target, payload, dedupeKey: 'd' })
    const first = await enqueue(1)
    const second = { created: false, id: first.id, because: 'dedupe-key' }
    expect(await enqueue(2)).toEqual(second)
    await stage.belfry.start()
    await stage.until('run.started')
    expect(await enqueue(3)).toEqual(second)
    gate.open()
    await stage.until('run.completed')
    expect(await enqueue(4)).toMatchObject({ created: true })
  })

  it('is told to targets as Idempotency-Key, equal for all attempts: the key, or else the id of the run', async () => {
    const told: string[] = []
    // Every first attempt fails, so that there is a second.
    const server = createServer(({ headers }, response) => {
      told.push(`${headers['belfry-run']} ${headers['belfry-attempt']} ${headers['idempotency-key']}`)
      response.writeHead(headers['belfry-attempt'] === '1' ? 503 : 200).end()
    })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const http = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }
    const command = 'echo "$BELFRY_RUN $BELFRY_ATTEMPT $BELFRY_IDEMPOTENCY_KEY"; test "$BELFRY_ATTEMPT" = 2'
    const stage = await open({
      work: ({ id, attempt, idempotencyKey }) => {
        told.push(`${id} ${attempt} ${idempotencyKey}`)
        if (attempt === 1) throw new Error('once more')
      },
    })
    const targets = [{ http }, { command }, target]
    const keyed = targets.map((one, index) => ({ target: one, idempotencyKey: `order-${index}` }))
    const runs = await stage.belfry.runs.enqueueMany([...keyed, ...targets.map((one) => ({ target: one }))])
    await stage.drainTo('09:05')
    for (const { id } of [runs[1], runs[4]].flatMap((run) => run ?? [])) {
      for (const attempt of [1, 2]) told.push((await stage.belfry.runs.output(id, { attempt }))?.text.trim() ?? '')
    }
    const expected = runs.flatMap(({ id }, index) =>
      [1, 2].map((attempt) => `${id} ${attempt} ${keyed[index]?.idempotencyKey ?? id}`),
    )
    expect(told.toSorted()).toEqual(expected.toSorted())
  })
})

const findInLine = both('test in line', 'select run_id from belfry.ready')

describe('per-key ceilings', () => {
  const ofKey = (priority: number) => ({ target, concurrencyKey: 'k', priority, payload: priority })

  /** One run of the key at work and three behind it, the best in the middle. */
  async function full(store: string, slots: number) {
    const gates = [new Gate(), new Gate(), new Gate(), new Gate(), new Gate()]
    const stage = await open({ store, work: (run) => gates[stage.seen.length - 1]?.pass(run) })
    await stage.belfry.queues.set('default', { maxConcurrent: 10, maxConcurrentPerKey: 1 })
    await stage.belfry.start({ slots })
    await stage.belfry.runs.enqueue(ofKey(100))
    await stage.until('run.started')
    const behind = await stage.belfry.runs.enqueueMany([ofKey(30), ofKey(10), ofKey(20)])
    const waiting = async () => {
      const runs = await Promise.all(behind.map(({ id }) => stage.belfry.runs.get(id)))
      return runs.map(({ status, waiting }) => (waiting === undefined ? status : `${status}, ${waiting.for}`))
    }
    return { stage, gates, waiting }
  }

  it('set a run behind a full key apart, as a ready run that is blocked and is not in line', async () => {
    const store = sqliteFile()
    const { stage, waiting } = await full(store, 10)
    await stage.belfry.runs.enqueue({ target, concurrencyKey: 'other' })
    await stage.until('run.started', 2)
    expect(await waiting()).toEqual(['ready, key', 'ready, key', 'ready, key'])
    const database = databaseOf(await portOf(store, stage.clock))
    expect(await database.read(() => all(findInLine))).toEqual([])
    await stage.pass(2 * minute, minute)
    expect(stage.seen).toHaveLength(2)
  })

  it('let the best-ranked one back when a run of the key ends, in the same transaction', async () => {
    const { stage, gates, waiting } = await full('memory:', 10)
    await stage.belfry.queues.pause('default')
    gates[0]?.open()
    await stage.until('run.completed')
    expect(await waiting()).toEqual(['ready, key', 'ready', 'ready, key'])
    await stage.belfry.queues.resume('default')
    for (const gate of gates) gate.open()
    await stage.until('run.completed', 4)
    expect(stage.seen.map(({ run }) => run.payload)).toEqual([100, 10, 20, 30])
  })

  it('let the best-ranked one back when the limit is raised, in the same transaction', async () => {
    const { stage, waiting } = await full('memory:', 1)
    await stage.belfry.queues.set('default', { maxConcurrentPerKey: 2 })
    expect(await waiting()).toEqual(['ready, key', 'ready', 'ready, key'])
    await stage.belfry.queues.set('default', { maxConcurrentPerKey: null })
    expect(await waiting()).toEqual(['ready', 'ready', 'ready'])
  })
})
