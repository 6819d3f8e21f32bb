import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import pg from 'pg'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { leasesOf } from '../../../src/store/leases/lease.ts'
import type { Store } from '../../../src/store/port.ts'
import { postgresUrl } from '../../postgres.ts'

const schema = `deaf_${process.pid}`
const report = { target: { handler: 'report' } } as const
const can = { kinds: [], handlers: ['report'] }

/** A way to the server on which answers can be kept back, as for a process that is stopped while it waits for them. */
class Way {
  readonly #server: Server
  readonly #answers = new Set<Socket>()
  readonly #questions = new Set<Socket>()

  constructor(to: { host: string; port: number }) {
    this.#server = createServer((question) => {
      const answer = connect(to)
      this.#answers.add(answer)
      this.#questions.add(question)
      for (const socket of [question, answer]) socket.on('error', () => undefined)
      question.pipe(answer)
      answer.pipe(question)
    })
  }

  async open(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  keepBack(): void {
    for (const answer of this.#answers) answer.unpipe()
  }

  close(): void {
    for (const socket of [...this.#answers, ...this.#questions]) socket.destroy()
    this.#server.close()
  }
}

let way: Way
let stopped: Store
let other: Store

beforeEach(async () => {
  const url = new URL(postgresUrl())
  way = new Way({ host: url.hostname, port: Number(url.port) })
  url.port = String(await way.open())
  url.hostname = '127.0.0.1'
  other = await openStore(postgresUrl(), { schema, allowNonDurable: true })
  stopped = await openStore(url.href, { schema, allowNonDurable: true })
})

afterEach(async () => {
  way.close()
  await Promise.all([stopped.close(), other.close()])
  const others = new pg.Client(postgresUrl())
  await others.connect()
  await others.query(`drop schema ${schema} cascade`)
  await others.end()
})

const leaseFrom = (store: Store, claimId: string, limit = 1) =>
  store.lease({ queue: 'default', workerId: 'w-11', claimId, can, limit, leaseMs: 30_000 })

/** Nobody has to hear of it before the others go on: what was asked for is done, and belongs to whoever asked. */
test('a worker that is stopped while it waits for its lease keeps no other from the queue', async () => {
  const ids = (await other.enqueue([report, report])).map(({ id }) => id)
  await leaseFrom(stopped, 'to know the queue', 0)
  way.keepBack()
  const unheard = leaseFrom(stopped, 'unheard')
  unheard.catch(() => undefined)
  while ((await other.look(leasesOf, 'unheard')).length === 0) await new Promise(setImmediate)
  expect((await leaseFrom(other, 'heard')).leases.map(({ runId }) => runId)).toEqual(ids.slice(1))
})

test('a lone run that is leased where it is enqueued keeps nobody from the queue either', async () => {
  // It draws ids for more than one run.
  await stopped.enqueue([report])
  await leaseFrom(stopped, 'to know the queue')
  stopped.listen(
    () => undefined,
    () => queueMicrotask(() => void leaseFrom(stopped, 'joined').catch(() => undefined)),
  )
  way.keepBack()
  stopped.enqueue([report]).catch(() => undefined)
  while ((await other.look(leasesOf, 'joined')).length === 0) await new Promise(setImmediate)
  const [next] = await other.enqueue([report])
  expect((await leaseFrom(other, 'heard')).leases.map(({ runId }) => runId)).toEqual([next?.id])
})
