import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Notice } from '../../src/parts/notices/notice.ts'
import { hour, minute, open, type Stage, target } from './stage.ts'

interface Received {
  readonly path: string
  readonly method: string
  readonly notice: Notice
}

/** Somebody who is told, and may be away at first. */
class Receiver {
  readonly received: Received[] = []
  readonly #waiting = new Set<() => void>()
  url = ''
  /** How many of the first are turned away. */
  turnsAway = 0

  static async open(): Promise<Receiver> {
    const receiver = new Receiver()
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const isAway = receiver.turnsAway-- > 0
        response.writeHead(isAway ? 503 : 204).end()
        if (isAway) return
        const notice = JSON.parse(Buffer.concat(chunks).toString()) as Notice
        receiver.received.push({ path: request.url ?? '', method: request.method ?? '', notice })
        for (const resolve of receiver.#waiting) resolve()
      })
    })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return receiver
  }

  to(path: string) {
    return { http: { url: `${this.url}/${path}` } }
  }

  /** Waits until so many were told. */
  async until(count: number): Promise<readonly Received[]> {
    while (this.received.length < count) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
    return this.received
  }
}

/** Works until all is done that can be, and tells who was told of what. */
async function told(stage: Stage, receiver: Receiver, to: string): Promise<string[]> {
  const before = receiver.received.length
  await stage.drainTo(to)
  return receiver.received.slice(before).map(({ path, notice }) => `${path} ${notice.event} ${notice.schedule}`)
}

describe('a word when something fails', () => {
  it('comes over HTTP when a run has failed for good, and when its schedule is well again', async () => {
    const receiver = await Receiver.open()
    let isBroken = true
    const stage = await open({
      work: () => {
        if (isBroken) throw new Error('no luck today')
      },
    })
    await stage.put({ every: '1h', onFailure: receiver.to('failed'), onRecover: receiver.to('well') })
    expect(await told(stage, receiver, '10:30')).toEqual(['/failed failure s'])
    const [first] = receiver.received
    expect(first?.method).toBe('POST')
    expect(first?.notice).toMatchObject({ namespace: 'default', queue: 'default', attempt: 3, failuresInARow: 1 })
    expect(first?.notice.reason).toContain('no luck today')
    isBroken = false
    expect(await told(stage, receiver, '14:00')).toEqual(['/well recover s'])
    expect(receiver.received[1]?.notice).toMatchObject({ failuresInARow: 1, reason: 'completed' })
  })

  it('is tried again while nobody is there to hear it, and nobody is told that it failed', async () => {
    const receiver = await Receiver.open()
    receiver.turnsAway = 4
    const stage = await open()
    await stage.belfry.store.notify({ onPark: receiver.to('parked'), onFailure: receiver.to('failed') })
    await stage.belfry.queues.set('default', { maxAttempts: 1 })
    await stage.belfry.runs.enqueue({ target: { http: { url: 'http://127.0.0.1:1/' } } })
    expect(await told(stage, receiver, '09:10')).toEqual(['/parked park null'])
    const { runs } = await stage.belfry.runs.list({ queue: 'notices' })
    expect(runs).toMatchObject([{ status: 'completed', source: 'notice', attempts: 4, fence: 5 }])
    receiver.turnsAway = 1_000
    await stage.belfry.runs.enqueue({ queue: 'other', target: { http: { url: 'http://127.0.0.1:1/' } } })
    expect(await told(stage, receiver, '09:40')).toEqual([])
    const after = await stage.belfry.runs.list({ queue: 'notices' })
    expect(after.runs.map(({ status }) => status)).toEqual(['failed', 'completed'])
  })

  it('starts a command, which reads the notice as its payload', async () => {
    const stage = await open()
    await stage.belfry.queues.set('default', { maxAttempts: 1, onPark: { command: 'cat; echo; echo done' } })
    const { id } = await stage.belfry.runs.enqueue({ target: { http: { url: 'http://127.0.0.1:1/' } } })
    await stage.drainTo('09:01')
    const [run] = (await stage.belfry.runs.list({ queue: 'notices' })).runs
    const { text = '' } = (await stage.belfry.runs.output(run?.id ?? '')) ?? {}
    const [payload = '', last] = text.trim().split('\n')
    expect(JSON.parse(payload)).toMatchObject({ event: 'park', run: id, queue: 'default' })
    expect(last).toBe('done')
  })

  it('comes when nobody starts what is due, and once more when somebody does', async () => {
    const receiver = await Receiver.open()
    const stage = await open()
    await stage.put({
      every: '1h',
      target: { handler: 'absent' },
      onOverdue: receiver.to('overdue'),
      onRecover: receiver.to('well'),
    })
    await stage.belfry.start()
    await stage.pass(hour + 10 * minute, minute)
    const [late] = await receiver.until(1)
    expect(late).toMatchObject({ path: '/overdue', notice: { event: 'overdue', schedule: 's' } })
    expect(late?.notice.run).toMatch(/^r-/)
    stage.belfry.handle('absent', () => 'here after all')
    await stage.pass(5 * minute, minute)
    const [, well] = await receiver.until(2)
    expect(well).toMatchObject({ path: '/well', notice: { event: 'recover', schedule: 's' } })
    expect(receiver.received).toHaveLength(2)
  })

  it('is not needed where all goes well', async () => {
    const receiver = await Receiver.open()
    const stage = await open()
    const everything = { onFailure: receiver.to('f'), onPark: receiver.to('p'), onRecover: receiver.to('r') }
    await stage.put({ every: '10m', target, ...everything, onOverdue: receiver.to('o') })
    expect(await told(stage, receiver, '12:00')).toEqual([])
    expect((await stage.belfry.runs.list({ queue: 'notices' })).runs).toEqual([])
  })
})
