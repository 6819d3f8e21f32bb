import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { signatureStyles } from '../../../src/parts/routines/webhook-signature.ts'

describe('Standard Webhooks', () => {
  const { keyOf, isGenuine } = signatureStyles.standard
  // The example of the specification.
  const key = keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') as Buffer
  const example = {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  }
  const signedAt = 1_614_265_330_000
  const body = '{"test": 2432232314}'
  const judged = (change: Record<string, string | null> = {}, { sent = body, now = signedAt } = {}) => {
    const headers = new Headers(example)
    for (const [name, value] of Object.entries(change)) {
      if (value === null) headers.delete(name)
      else headers.set(name, value)
    }
    return isGenuine({ headers, body: Buffer.from(sent), now }, key)
  }

  it('knows the example of the specification, with and without the prefix of its secret', () => {
    expect(judged()).toBe(true)
    expect(keyOf('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')).toEqual(key)
  })

  it.each([
    ['another body', {}, { sent: '{"test": 2432232315}' }],
    ['the same JSON in other bytes', {}, { sent: '{"test":2432232314}' }],
    ['a byte more', {}, { sent: `${body}\n` }],
    ['another id', { 'webhook-id': 'msg_other' }, {}],
    ['another timestamp', { 'webhook-timestamp': '1614265331' }, {}],
    ['no id', { 'webhook-id': null }, {}],
    ['no timestamp', { 'webhook-timestamp': null }, {}],
    ['no signature', { 'webhook-signature': null }, {}],
    ['an empty signature', { 'webhook-signature': '' }, {}],
    [
      'a signature of another version',
      { 'webhook-signature': example['webhook-signature'].replace('v1,', 'v1a,') },
      {},
    ],
    ['a signature without its version', { 'webhook-signature': example['webhook-signature'].slice(3) }, {}],
    ['a signature that was cut', { 'webhook-signature': example['webhook-signature'].slice(0, -4) }, {}],
    ['a timestamp that is none', { 'webhook-timestamp': '1614265330.0' }, {}],
    ['a timestamp below zero', { 'webhook-timestamp': '-1614265330' }, {}],
  ])('refuses %s', (_, change, sent) => {
    expect(judged(change, sent)).toBe(false)
  })

  it('lets five minutes pass between two clocks, in both directions, and no ms more', () => {
    for (const away of [0, 299_999, 300_000, -300_000])
      expect(judged({}, { now: signedAt + away }), `${away}`).toBe(true)
    for (const away of [300_001, -300_001, 86_400_000])
      expect(judged({}, { now: signedAt + away }), `${away}`).toBe(false)
  })

  it('takes one good signature among several, as while a key is changed', () => {
    const [other, good] = [`v1,${Buffer.alloc(32).toString('base64')}`, example['webhook-signature']]
    expect(judged({ 'webhook-signature': `${other} ${good}` })).toBe(true)
    expect(judged({ 'webhook-signature': `${good} v1a,x ${other}` })).toBe(true)
    expect(judged({ 'webhook-signature': `${other} ${other}` })).toBe(false)
  })

  it('does not take the id and the timestamp for one another: where one ends is part of what is signed', () => {
    const signature = createHmac('sha256', key).update(`a.1614265330.${body}`).digest('base64')
    expect(judged({ 'webhook-id': 'a', 'webhook-signature': `v1,${signature}` })).toBe(true)
    expect(judged({ 'webhook-id': 'a.1614265330', 'webhook-signature': `v1,${signature}` })).toBe(false)
  })

  it('has no key where the secret is none', () => {
    for (const secret of ['', 'whsec_', 'whsec_-_-', 'a secret with blanks']) expect(keyOf(secret), secret).toBeNull()
    const ofBytes = (count: number) => keyOf(`whsec_${Buffer.alloc(count, 'k').toString('base64')}`)
    expect([23, 24, 64].map((count) => ofBytes(count)?.length)).toEqual([undefined, 24, 64])
  })

  it('never throws, and never takes a signature that nobody with the key has made', () => {
    fc.assert(
      fc.property(fc.base64String(), fc.string(), (signature, sent) => {
        const headers = new Headers({ ...example, 'webhook-signature': `v1,${signature}` })
        expect(isGenuine({ headers, body: Buffer.from(sent), now: signedAt }, key)).toBe(false)
      }),
    )
  })
})

describe('GitHub', () => {
  const { keyOf, isGenuine } = signatureStyles.github
  // The example of its documents.
  const key = keyOf("It's a Secret to Everybody") as Buffer
  const signature = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
  const judged = (shown: string | null, sent = 'Hello, World!', signedBy = key) => {
    const headers = new Headers(shown === null ? {} : { 'x-hub-signature-256': shown })
    return isGenuine({ headers, body: Buffer.from(sent), now: 0 }, signedBy)
  }

  it('is known by the example of its documents', () => {
    expect(judged(signature)).toBe(true)
  })

  it('has no secret that is easily guessed', () => {
    expect(['', '1234567', '12345678'].map((secret) => keyOf(secret)?.length)).toEqual([undefined, undefined, 8])
  })

  it.each([
    null,
    '',
    'sha256=',
    signature.slice(7),
    signature.replace('sha256', 'sha1'),
    signature.replace('757107', '757108'),
    signature.toUpperCase(),
    `${signature}0`,
    signature.slice(0, -1),
  ])('is refused with the signature %j', (shown) => {
    expect(judged(shown)).toBe(false)
  })

  it('is refused with another body, or another key', () => {
    expect(judged(signature, 'Hello, World?')).toBe(false)
    expect(judged(signature, 'Hello, World!', Buffer.from('another'))).toBe(false)
  })
})
