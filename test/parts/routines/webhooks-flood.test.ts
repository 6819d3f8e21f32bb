import { beforeEach, describe, expect, it } from 'vitest'
import { onPorch, origin } from '../../doors/http/porch.ts'
import { githubHeaders, setRoutines, standardHeaders } from './stage.ts'

const porch = onPorch()
beforeEach(() => setRoutines(porch()))

const megabyte = 1_000_000
const chunkBytes = 50_000

/** A body that counts how much of it was read. */
function counted(bytes: number): { readonly body: ReadableStream; readonly read: () => number } {
  let read = 0
  const pull = (controller: ReadableStreamDefaultController) => {
    if (read >= bytes) return controller.close()
    read += chunkBytes
    controller.enqueue(new Uint8Array(chunkBytes))
  }
  return { body: new ReadableStream({ pull }, { highWaterMark: 0 }), read: () => read }
}

/** A delivery of a megabyte whose signature is wrong; how much of it was read, and the answer. */
async function forged(headers: Readonly<Record<string, string>>, hook = 'paid') {
  const { body, read } = counted(megabyte)
  const init = { method: 'POST', headers: { host: '127.0.0.1:4747', ...headers }, body, duplex: 'half' }
  const response = await porch().door.fetch(new Request(`${origin}/hooks/${hook}`, init as RequestInit))
  return { status: response.status, read: read(), retryAfter: response.headers.get('retry-after') }
}

/** The rate of strangers lets this many come at once. */
const burst = 50
const flood = async () => {
  for (let index = 0; index < burst; index++) await forged(standardHeaders('{}'))
}
const sent = async (padding: number, id: string) => {
  const text = JSON.stringify({ type: 'paid', padding: 'x'.repeat(padding) })
  return porch().ask('/hooks/paid', {
    text,
    headers: standardHeaders(text, { id, at: porch().desk.clock.now() }),
    as: null,
  })
}

describe('strangers are counted before their megabyte is read', () => {
  it('a flood of forged deliveries is refused before its bodies are read', async () => {
    expect(await forged(standardHeaders('{}'))).toMatchObject({ status: 401, read: megabyte })
    await flood()
    const declared = { ...standardHeaders('{}'), 'content-length': String(megabyte) }
    expect(await forged(declared)).toEqual({ status: 429, read: 0, retryAfter: '1' })
    // Where the length is not told beforehand the first 64 KB are read.
    expect(await forged(standardHeaders('{}'))).toMatchObject({ status: 429, read: 2 * chunkBytes })
    // Other routines are not held up for it.
    expect(await forged(githubHeaders('{}'), 'pushed')).toMatchObject({ read: megabyte })
  })

  it('genuine deliveries of 64 KB come in during the flood, and larger ones after it', async () => {
    await flood()
    expect((await sent(1_000, 'a')).status).toBe(202)
    expect(await (await sent(100_000, 'b')).json()).toMatchObject({ code: 'too-many', status: 429 })
    porch().desk.clock.advance(1_000)
    expect((await sent(100_000, 'b')).status).toBe(202)
  })

  it('genuine deliveries are not counted among strangers, however many come', async () => {
    for (let index = 0; index < 2 * burst; index++) expect((await sent(100_000, `d${index}`)).status).toBe(202)
  })
})
