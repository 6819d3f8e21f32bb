import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listen } from '../../../src/targets/command/output-stream.ts'

/** What is said of bytes that come in these pieces. */
async function said(pieces: readonly Uint8Array[], secrets: { name: string; value: string }[] = []): Promise<string[]> {
  const stream = new PassThrough()
  const texts: string[] = []
  const listening = listen({ stream, secrets, say: (text) => texts.push(text), drained: async () => undefined })
  for (const piece of pieces) {
    stream.write(piece)
    await new Promise((resolve) => setImmediate(resolve))
  }
  stream.end()
  await listening.finish()
  return texts
}

const cut = (bytes: Uint8Array, places: readonly number[]) => {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b)
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index] ?? bytes.length))
}

describe('what a program writes becomes text', () => {
  it('with every character whole, wherever its bytes are cut', async () => {
    const text = 'a€b🔔c'
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 4 }), async (places) => {
        const texts = await said(cut(Buffer.from(text), places))
        expect(texts.join('')).toBe(text)
        expect(texts.every((piece) => piece.isWellFormed())).toBe(true)
      }),
    )
  })

  it('with the replacement character for what is no text, also at the very end', async () => {
    expect((await said([Buffer.from([0x61, 0xff, 0x62, 0xe2, 0x82])])).join('')).toBe('a\ufffdb\ufffd')
  })

  it('with no secret in it, wherever it is cut, and with what only began like one', async () => {
    const bytes = Buffer.from('is it glöckner-77 or glöckner-7')
    const secrets = [{ name: 'BELL', value: 'glöckner-77' }]
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(), { maxLength: 4 }), async (places) => {
        expect((await said(cut(bytes, places), secrets)).join('')).toBe('is it [secret BELL] or glöckner-7')
      }),
    )
  })

  it('at once: nothing is held back that could not be the beginning of a secret', async () => {
    const texts = await said([Buffer.from('one\n'), Buffer.from('two\n')], [{ name: 'BELL', value: 'glöckner' }])
    expect(texts).toEqual(['one\n', 'two\n'])
  })
})

describe('a listener that has no room', () => {
  it('reads nothing until there is, and at its end what is left without waiting', async () => {
    const stream = new PassThrough()
    const texts: string[] = []
    const listening = listen({
      stream,
      secrets: [],
      say: (text) => texts.push(text),
      drained: () => new Promise(() => undefined),
    })
    stream.write('one ')
    await new Promise((resolve) => setImmediate(resolve))
    stream.write('two ')
    stream.end('three')
    await new Promise((resolve) => setImmediate(resolve))
    expect(texts).toEqual(['one '])
    await listening.finish()
    expect(texts.join('')).toBe('one two three')
  })

  it('goes on when waiting for room failed: what was said is said', async () => {
    const stream = new PassThrough()
    const texts: string[] = []
    const drained = () => Promise.reject(new Error('no room'))
    const listening = listen({ stream, secrets: [], say: (text) => texts.push(text), drained })
    stream.write('one ')
    await new Promise((resolve) => setImmediate(resolve))
    stream.end('two')
    await listening.finish()
    expect(texts.join('')).toBe('one two')
  })

  it('takes a pipe that breaks for one that ended', async () => {
    const stream = new PassThrough()
    const listening = listen({ stream, secrets: [], say: () => undefined, drained: async () => undefined })
    stream.destroy(new Error('broken'))
    await listening.finish()
  })
})
