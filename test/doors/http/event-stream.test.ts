import { describe, expect, it, vi } from 'vitest'
import { listEvents } from '../../../src/store/reads/list-events.ts'
import { onPorch, origin, type Porch } from './porch.ts'

const porch = onPorch()
const patience = { timeout: 30_000 }

interface Heard {
  readonly event: string
  readonly id: string
  readonly data: Record<string, unknown>
}

/** Listens until so much was heard. */
async function hear(place: Porch, count: number, lastId?: string): Promise<Heard[]> {
  const leaving = new AbortController()
  const headers = {
    authorization: `Bearer ${place.tokens.get('read')}`,
    host: '127.0.0.1:4747',
    ...(lastId !== undefined && { 'last-event-id': lastId }),
  }
  const response = await place.door.fetch(new Request(`${origin}/api/events`, { headers, signal: leaving.signal }))
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const heard: Heard[] = []
  let text = ''
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  while (heard.length < count) {
    const { value, done } = await reader.read()
    if (done) break
    text += new TextDecoder().decode(value)
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    heard.push(...parts.flatMap(eventIn))
    place.desk.clock.advance(250)
  }
  leaving.abort()
  await reader.cancel()
  return heard
}

/** Listens until the stream ends. */
async function drain(response: Response, heard: string[]): Promise<void> {
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    heard.push(new TextDecoder().decode(part))
  }
}

function eventIn(part: string): Heard[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1]
  const [event, id, data] = [field('event'), field('id'), field('data')]
  return event === undefined || id === undefined || data === undefined ? [] : [{ event, id, data: JSON.parse(data) }]
}

describe('the stream of events', () => {
  it('tells of changes, fires and ends in their order, and goes on from the last that was heard', async () => {
    const { store, clock } = porch().desk
    const start = `${clock.now() - 1}.3.0.0`
    await porch().json('/api/schedules', { body: { name: 'ping', every: '1m', target: { handler: 'ping' } } })
    clock.advance(60_000)
    await store.fireDue({ limit: 10 })
    clock.advance(1_000)
    await porch().desk.work()
    clock.advance(1_000)
    const all = await hear(porch(), 6, start)
    expect(all.map(({ event }) => event)).toEqual([
      'changed',
      'changed',
      'changed',
      'changed',
      'schedule.fired',
      'run.completed',
    ])
    expect(all.slice(-2).map(({ data }) => data)).toMatchObject([
      { schedule: 'ping', queue: 'default', source: 'baseline-interval', at: '2026-01-05T09:01:00.000Z' },
      { schedule: 'ping', outcome: 'success', fence: 1 },
    ])
    for (const [index, { id }] of all.entries()) {
      if (index === all.length - 1) continue
      expect(await hear(porch(), all.length - index - 1, id)).toEqual(all.slice(index + 1))
    }
  })

  it('loses nothing of many that happened in one instant, however they are cut', async () => {
    const { store, clock } = porch().desk
    const start = `${clock.now()}.3.0.0`
    clock.advance(1)
    await porch().json('/api/queues/default', { method: 'PUT', body: { maxConcurrent: 2_000 } })
    await porch().json('/api/runs/enqueue-many', {
      body: { runs: Array.from({ length: 1_000 }, () => ({ target: null })) },
    })
    await porch().json('/api/runs/enqueue-many', {
      body: { runs: Array.from({ length: 300 }, () => ({ target: null })) },
    })
    for (let rounds = 0; rounds < 13; rounds++) await porch().desk.work()
    clock.advance(1_000)
    const heard = (await hear(porch(), 1_301, start)).filter(({ event }) => event === 'run.completed')
    expect(new Set(heard.map(({ data }) => data.id)).size).toBe(1_300)
    expect(await store.look(listEvents, { at: clock.now() + 5, rank: 0, number: 0, fence: 0 }, 10)).toMatchObject({
      events: [],
    })
  })

  it('is not closed to others by those who ask without listening, and refuses what it cannot be asked for', async () => {
    for (let tries = 0; tries < 120; tries++) await porch().ask('/api/events', { method: 'HEAD' })
    const response = await porch().ask('/api/events')
    expect(response.status).toBe(200)
    await response.body?.cancel()
    expect((await porch().ask('/api/events?queue=mail')).status).toBe(400)
  })

  it('costs no more for many who listen than for one, while nothing happens', async () => {
    const { clock, store } = porch().desk
    const looks = { events: 0, token: 0 }
    const real = store.look.bind(store)
    store.look = (read, ...args) => {
      if (read.name === 'listEvents') looks.events += 1
      if (read.name === 'findToken') looks.token += 1
      return real(read, ...args)
    }
    const streams = 20
    const heard: string[] = []
    // What was made before is over when they begin.
    clock.advance(10)
    for (let opened = 0; opened < streams; opened++) void drain(await porch().ask('/api/events', { as: 'read' }), heard)
    // Each begins by itself, and looks where it is.
    await vi.waitFor(() => expect(looks.events).toBe(2 * streams), patience)
    const before = { ...looks }
    let ticks = 0
    for (let round = 0; round < 40; round++) {
      const seen = looks.events
      const looked = () => {
        if (looks.events === seen) {
          clock.advance(250)
          ticks++
        }
        expect(looks.events).toBeGreaterThan(seen)
      }
      await vi.waitFor(looked, { ...patience, interval: 5 })
    }
    expect(looks.events - before.events).toBeLessThan(2 * ticks)
    expect(looks.token - before.token).toBeLessThan(ticks)
    expect(heard.filter((text) => text.includes('event: changed'))).toEqual([])
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 2 } })
    await vi.waitFor(() => {
      clock.advance(250)
      expect(heard.filter((text) => text.includes('event: changed'))).toHaveLength(streams)
    }, patience)
  })

  it('is refused to whoever has forgotten to close many, and to nobody else', async () => {
    const opened = await Promise.all(Array.from({ length: 20 }, () => porch().ask('/api/events', { as: 'read' })))
    expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200))
    const refused = await porch().problem('/api/events', { as: 'read' })
    expect(refused).toMatchObject({ status: 429, code: 'too-many', hint: expect.stringContaining('Close one') })
    const other = await porch().ask('/api/events', { as: 'operate' })
    expect(other.status).toBe(200)
    await opened[0]?.body?.cancel()
    expect((await porch().ask('/api/events', { as: 'read' })).status).toBe(200)
  })

  it('tells everything once to whoever was slow to listen while others heard more', async () => {
    const { clock } = porch().desk
    const [quick, slow]: [string[], string[]] = [[], []]
    clock.advance(10)
    void drain(await porch().ask('/api/events'), quick)
    const reader = ((await porch().ask('/api/events')).body as ReadableStream<Uint8Array>).getReader()
    const change = async (maxConcurrent: number) => {
      await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent } })
      const events = () => quick.join('').split('event: changed').length - 1
      await vi.waitFor(() => {
        clock.advance(250)
        expect(events()).toBe(maxConcurrent)
      }, patience)
    }
    // Both begin before anything happens, and one of them hears of it only when all of it is over.
    slow.push(new TextDecoder().decode((await reader.read()).value))
    await vi.waitFor(() => expect(quick).toHaveLength(1), patience)
    for (const count of [1, 2, 3]) await change(count)
    while (slow.join('').split('event: changed').length - 1 < 3) {
      slow.push(new TextDecoder().decode((await reader.read()).value))
      clock.advance(250)
    }
    await reader.cancel()
    const ids = (parts: string[]) => [...parts.join('').matchAll(/^id: (.*)$/gm)].map(([, id]) => id)
    expect(ids(slow)).toEqual(ids(quick))
  })

  it('ends for whoever loses the right to listen', async () => {
    const { clock } = porch().desk
    const headers = { authorization: `Bearer ${porch().tokens.get('read')}`, host: '127.0.0.1:4747' }
    const response = await porch().door.fetch(new Request(`${origin}/api/events`, { headers }))
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await porch().json('/api/tokens/a%20reader/revoke', { method: 'POST' })
    clock.advance(2_000)
    for (let parts = 0; ; parts++) {
      clock.advance(2_000)
      const { done } = await reader.read()
      if (done) break
      expect(parts).toBeLessThan(5)
    }
  })

  it('begins now where no place is given, is refused without a token, and refuses a place that is none', async () => {
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 2 } })
    porch().desk.clock.advance(10)
    const hearing = hear(porch(), 1)
    await new Promise((resolve) => setImmediate(resolve))
    await porch().json('/api/queues/mail', { method: 'PUT', body: { maxConcurrent: 3 } })
    porch().desk.clock.advance(300)
    expect(await hearing).toMatchObject([
      { event: 'changed', data: { verb: 'queue.update', subject: 'queue mail', actor: 'a adminer' } },
    ])
    expect((await porch().ask('/api/events', { as: null })).status).toBe(401)
    for (const id of ['x', '1.9.0.0', '99999999999999999.0.0.0']) {
      expect((await porch().ask('/api/events', { headers: { 'last-event-id': id } })).status).toBe(400)
    }
  })
})
