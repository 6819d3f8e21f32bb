import pg from 'pg'
import { expect, it } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { isRefusal } from '../../../src/store/postgres/refusal.ts'
import { postgresUrl } from '../../postgres.ts'

/** What the machine says when it writes to a connection that the other side has closed. */
function brokenPipe(): Error {
  return Object.assign(new Error('write EPIPE'), { code: 'EPIPE', errno: -32, syscall: 'write' })
}

/** What the server says of a statement. */
async function serverError(text: string): Promise<unknown> {
  const client = new pg.Client(postgresUrl())
  await client.connect()
  try {
    return await client.query(text).catch((error: unknown) => error)
  } finally {
    await client.end()
  }
}

it('an answer of the server is a refusal, unless it says that the connection ends; what the machine says is none', async () => {
  expect(isRefusal(await serverError('select 1/0'))).toBe(true)
  expect(isRefusal(await serverError('nonsense'))).toBe(true)
  expect(isRefusal(await serverError('select pg_terminate_backend(pg_backend_pid())'))).toBe(false)
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  expect([brokenPipe(), reset, new Error('Query read timeout'), undefined].map(isRefusal)).toEqual(Array(4).fill(false))
})

/** What the server says to a session that has begun something and then was silent for too long. */
async function lastWords(): Promise<unknown> {
  const client = new pg.Client(postgresUrl())
  await client.connect()
  const said = new Promise((resolve) => {
    client.on('error', resolve)
  })
  await client.query('set idle_in_transaction_session_timeout = 1')
  await client.query('begin').catch(() => undefined)
  return said
}

it('a session that the server ends for its silence was not refused: what it had begun may be tried again', async () => {
  const said = await lastWords()
  expect(said).toMatchObject({ severity: 'FATAL', code: '25P03' })
  expect(isRefusal(said)).toBe(false)
})

it('a pipe that breaks in the middle of a step is an outage that passes, whose code only looks like the server’s', async () => {
  const store = await openStore(postgresUrl(), { schema: 'refusal', allowNonDurable: true })
  const client = {
    query: async ({ text }: { text: string }) => {
      if (!text.startsWith('savepoint')) throw brokenPipe()
      return { rows: [] }
    },
  }
  const step = store.enqueue([{ target: { handler: 'a' } }], { transaction: client })
  await expect(step).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('EPIPE') })
  await store.close()
})
