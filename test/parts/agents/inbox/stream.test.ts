import { expect, it, onTestFinished } from 'vitest'
import { Belfry } from '../../../../src/index.ts'

async function opened(): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false })
  onTestFinished(() => belfry.close())
  return belfry
}

it('a program takes the messages of its session one after the other, and each is acknowledged when it asks for the next', async () => {
  const belfry = await opened()
  const sent = [
    await belfry.inbox.send('First.', { session: 'a' }),
    await belfry.inbox.send('Second.', { session: 'a' }),
  ]
  const over = new AbortController()
  const seen: string[] = []
  for await (const message of belfry.inbox.messages({ session: 'a', signal: over.signal })) {
    seen.push(message.prompt)
    const statuses = await Promise.all(sent.map(async ({ run }) => (await belfry.runs.get(run)).status))
    expect(statuses).toEqual(seen.length === 1 ? ['leased', 'ready'] : ['completed', 'leased'])
    if (seen.length === 2) {
      await message.done({ ok: true })
      over.abort()
    }
  }
  expect(seen).toEqual(['First.', 'Second.'])
  expect(await belfry.runs.get(sent[1]?.run ?? '')).toMatchObject({
    status: 'completed',
    result: { value: { ok: true } },
  })
})

it('a loop that fails has not acknowledged its message', async () => {
  const belfry = await opened()
  const { run } = await belfry.inbox.send('First.', { session: 'a' })
  const failing = async () => {
    for await (const _ of belfry.inbox.messages({ session: 'a' })) throw new Error('no')
  }
  await expect(failing()).rejects.toThrow('no')
  expect((await belfry.runs.get(run)).status).toBe('leased')
})

it('a stream that waits ends with its signal, and a new session keeps its name', async () => {
  const belfry = await opened()
  const over = new AbortController()
  const stream = belfry.inbox.messages({ signal: over.signal })
  const first = stream.next()
  await belfry.inbox.send('Look.')
  const { value } = await first
  await value?.ack()
  const next = stream.next()
  await belfry.inbox.send('Again.', { session: value?.session ?? '' })
  expect((await next).value?.prompt).toBe('Again.')
  const last = stream.next()
  over.abort()
  expect(await last).toEqual({ value: undefined, done: true })
})
