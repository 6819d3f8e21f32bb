import { createHash, createHmac } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { verifyRequest } from '../../../src/client/verify-request.ts'
import { httpTargetProblems } from '../../../src/targets/http/http-target.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { caller, type Seen, witness } from './stage.ts'

const now = Date.UTC(2026, 0, 5, 9)
const clock = new TestClock(now)
const env = { BELFRY_SECRET_NEW: 'new-key-0123456789', BELFRY_SECRET_OLD: 'old-key-0123456789' }
const keys = env.BELFRY_SECRET_NEW
const sign = { secret: 'NEW' }
const received = (url: string, seen: Seen | undefined) => ({
  method: String(seen?.method),
  url: `${url}${seen?.url}`,
  headers: seen?.headers as Record<string, string>,
  body: seen?.body ?? '',
})

describe('a signed request', () => {
  it('covers version, seconds, method, URL, run, attempt and the hash of the bytes, a line each', async () => {
    const { url, seen } = await witness()
    await caller({ env }).call({ url: `${url}/a?b=c`, body: { a: 1 }, sign }, { clock })
    const hash = createHash('sha256').update('{"a":1}').digest('hex')
    const lines = `v1\n${now / 1_000}\nPOST\n${url}/a?b=c\nr-11\n2\n${hash}`
    const digest = createHmac('sha256', keys).update(lines).digest('hex')
    expect(seen[0]?.headers).toMatchObject({
      'belfry-timestamp': String(now / 1_000),
      'belfry-signature': `v1=${digest}`,
    })
    expect(verifyRequest(received(url, seen[0]), { keys, now })).toEqual({ genuine: true, run: 'r-11', attempt: 2 })
  })

  it('is refused when anything of it was changed, when it is old, and with another key', async () => {
    const { url, seen } = await witness()
    await caller({ env }).call({ url: `${url}/a`, body: 'text', sign }, { clock })
    const whole = received(url, seen[0])
    const why = (changed: object, more: object = {}) => {
      const verified = verifyRequest({ ...whole, ...changed }, { keys, now, ...more })
      return verified.genuine ? 'genuine' : verified.why
    }
    const headers = (more: object) => ({ headers: { ...whole.headers, ...more } })
    expect(why({})).toBe('genuine')
    expect(why({ headers: new Headers(whole.headers) })).toBe('genuine')
    expect(why({ body: 'text!' })).toBe('wrong-signature')
    expect(why({ method: 'PUT' })).toBe('wrong-signature')
    expect(why({ url: `${whole.url}?x` })).toBe('wrong-signature')
    expect(why(headers({ 'belfry-run': 'r-12' }))).toBe('wrong-signature')
    expect(why(headers({ 'belfry-attempt': '3' }))).toBe('wrong-signature')
    expect(why(headers({ 'belfry-timestamp': String(now / 1_000 + 1) }))).toBe('wrong-signature')
    expect(why(headers({ 'belfry-signature': 'v1=' }))).toBe('wrong-signature')
    expect(why(headers({ 'belfry-signature': undefined }))).toBe('not-signed')
    expect(why({}, { keys: 'another' })).toBe('wrong-signature')
    expect(why({}, { now: now + 300_000 })).toBe('genuine')
    expect(why({}, { now: now + 301_000 })).toBe('too-old')
    expect(why({}, { now: now - 301_000 })).toBe('too-old')
  })

  it('is checked with either key while one replaces the other', async () => {
    const { url, seen } = await witness()
    await caller({ env }).call({ url, sign: { secret: 'NEW', previous: 'OLD' } }, { clock })
    for (const key of Object.values(env)) {
      expect(verifyRequest(received(url, seen[0]), { keys: ['unknown', key], now }).genuine).toBe(true)
    }
  })

  it('is signed anew after a redirect to the same origin, and not at all after one to another', async () => {
    const other = await witness()
    const { url, seen } = await witness((request, response) => {
      if (request.url === '/from') response.writeHead(307, { location: '/to' }).end()
      else if (request.url === '/away') response.writeHead(307, { location: `${other.url}/x` }).end()
      else response.end()
    })
    const { call } = caller({ env })
    await call({ url: `${url}/from`, body: 'b', sign }, { clock })
    expect(seen.map((each) => verifyRequest(received(url, each), { keys, now }).genuine)).toEqual([true, true])
    await call({ url: `${url}/away`, body: 'b', sign }, { clock })
    expect(other.seen).toHaveLength(1)
    expect(Object.keys(other.seen[0]?.headers ?? {})).not.toContain('belfry-signature')
    expect(Object.keys(other.seen[0]?.headers ?? {})).not.toContain('belfry-timestamp')
  })

  it('without its key is not sent, and its attempt fails no-signing-key', async () => {
    const { url, seen } = await witness()
    const { facts } = await caller({ env: {} }).call({ url, sign })
    expect(facts).toEqual({
      error: expect.stringMatching(/^no-signing-key: The secret NEW is missing/),
      retryable: true,
    })
    expect(seen).toEqual([])
  })
})

it('an answer is kept as far as keepBytes says', async () => {
  const { url } = await witness((_, response) => response.end('x'.repeat(300_000)))
  const { call } = caller()
  const kept = async (keepBytes?: number) => {
    const { result, resultBytesMax } = await call({ url, ...(keepBytes !== undefined && { keepBytes }) })
    return { bytes: String(result.body).length, truncated: result.truncated ?? false, resultBytesMax }
  }
  expect(await kept(1_024)).toEqual({ bytes: 1_024, truncated: true, resultBytesMax: undefined })
  expect(await kept()).toMatchObject({ truncated: true, resultBytesMax: undefined })
  expect(await kept(400_000)).toEqual({ bytes: 300_000, truncated: false, resultBytesMax: 400_000 })
})

it.each<[string, object]>([
  ['http.keepBytes', { keepBytes: 1_023 }],
  ['http.keepBytes', { keepBytes: 10_485_761 }],
  ['http.keepBytes', { keepBytes: '2048' }],
  ['http.sign', { sign: 'NEW' }],
  ['http.sign.secret', { sign: {} }],
  ['http.sign.secret', { sign: { secret: 'a b' } }],
  ['http.sign.previous', { sign: { secret: 'NEW', previous: 'NEW' } }],
  ['http.sign.key', { sign: { secret: 'NEW', key: 1 } }],
])('%s is refused: %j', (field, more) => {
  const found = httpTargetProblems({ http: { url: 'https://example.org/', ...more } })
  expect(found.map((each) => each.field)).toEqual([field])
})
