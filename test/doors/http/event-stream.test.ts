import { describe, expect, it } from 'vitest'
import { onPorch, origin, type Porch } from './porch.ts'

const porch = onPorch()

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
    await porch().json('/api/runs/enqueue-many', { body: { runs: Array.from({ length: 1_000 }, () => ({})) } })
    await porch().json('/api/runs/enqueue-many', { body: { runs: Array.from({ length: 300 }, () => ({})) } })
    for (let rounds = 0; rounds < 13; rounds++) await porch().desk.work()
    clock.advance(1_000)
    const heard = (await hear(porch(), 1_301, start)).filter(({ event }) => event === 'run.completed')
    expect(new Set(heard.map(({ data }) => data.id)).size).toBe(1_300)
    expect(await store.read.events({ at: clock.now() + 5, rank: 0, number: 0, fence: 0 }, 10)).toMatchObject({
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
