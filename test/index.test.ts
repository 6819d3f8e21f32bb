import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Belfry, type HandlerRun, type OpenOptions, RunFailure } from '../src/index.ts'
import { openStore } from '../src/open-store.ts'
import { ownIdentity } from '../src/store/workers/process-identity.ts'
import { registerWorker } from '../src/store/workers/register-worker.ts'
import { TestClock } from '../src/testing/test-clock.ts'
import { errorOf, problemsIn } from './operations/desk.ts'
import { postgresUrl } from './postgres.ts'

async function open(options: OpenOptions = {}): Promise<Belfry> {
  const belfry = await Belfry.open({ store: 'memory:', log: false, ...options })
  onTestFinished(() => belfry.close())
  return belfry
}

function sqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-library-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'belfry.db')
}

/** The URL of a server of this machine's own that answers everything alike. */
async function served(seen: (request: IncomingMessage) => unknown): Promise<string> {
  const server = createServer((request, response) => {
    seen(request)
    response.end('ok')
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** The next event of a name. */
function heard<Name extends Parameters<Belfry['once']>[0]>(belfry: Belfry, name: Name): Promise<unknown> {
  return new Promise((resolve) => belfry.once(name, resolve))
}

describe('a program that embeds Belfry', () => {
  it('does what the design shows: handle, set, put, enqueue, start, wait, on, stop, close', async () => {
    const belfry = await open({ store: `sqlite:${sqliteFile()}` })
    const days: string[] = []
    belfry.handle('report', async (run: HandlerRun<{ day: string }>) => {
      days.push(run.payload.day)
      return { rows: days.length }
    })
    await belfry.queues.set('default', { maxConcurrent: 50 })
    await belfry.schedules.put({
      name: 'report',
      cron: '0 9 * * 1-5',
      zone: 'Europe/Paris',
      target: { handler: 'report' },
    })
    const first = await belfry.runs.enqueue({
      target: { handler: 'report' },
      payload: { day: 'today' },
      idempotencyKey: 'r-1',
    })
    await belfry.runs.enqueueMany([{ target: { handler: 'report' }, payload: { day: 'later' } }])
    const completed: string[] = []
    belfry.on('run.completed', ({ runId }) => completed.push(runId))
    await belfry.start({ slots: 20 })
    expect(belfry.isRunning).toBe(true)
    const ended = await belfry.runs.wait(first.id)
    expect(ended).toMatchObject({ status: 'completed', attempts: 0, result: { value: { rows: 1 }, truncated: false } })
    expect(completed).toContain(first.id)
    expect(await belfry.workers.list()).toMatchObject([{ isLive: true, slots: 20 }])
    await belfry.stop({ graceMs: 25_000 })
    expect(belfry.isRunning).toBe(false)
    expect(await belfry.workers.list()).toMatchObject([{ isLive: false }])
  })

  it('adds a handler while it works, and what waited for it goes', async () => {
    const belfry = await open()
    await belfry.start()
    const { id } = await belfry.runs.enqueue({ target: { handler: 'late' } })
    belfry.handle('late', () => 'here')
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', result: { value: 'here' } })
    // Others see by it who could execute what.
    const known = async () => (await belfry.workers.list())[0]?.can.handlers
    await expect.poll(known).toEqual(['late'])
  })

  it('executes commands and fires schedules beside its handlers', async () => {
    const belfry = await open()
    await belfry.start()
    await belfry.schedules.put({ name: 'echo', every: '1h', startNow: true, target: { command: ['echo', 'hello'] } })
    await heard(belfry, 'run.completed')
    const { runs } = await belfry.runs.list({ schedule: 'echo' })
    expect(runs).toMatchObject([{ status: 'completed', source: 'baseline-interval' }])
    expect(await belfry.runs.output(runs[0]?.id ?? '')).toMatchObject({ text: 'hello\n' })
  })

  it('hears what its handler is told and logs as output, and of its own traces', async () => {
    const belfry = await open()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const told = belfry.handle('tell', async (run) => {
      run.log('working on', run.payload)
      return { key: run.idempotencyKey, attempt: run.attempt, trace: run.traceparent.split('-')[1], source: run.source }
    })
    await belfry.start()
    const { id } = await told.enqueue({ a: 1 }, { idempotencyKey: 'k', traceparent })
    expect((await told.wait(id)).result?.value).toEqual({
      key: 'k',
      attempt: 1,
      trace: '0af7651916cd43dd8448eb211c80319c',
      source: 'enqueued',
    })
    expect(await belfry.runs.output(id)).toMatchObject({ text: 'working on { a: 1 }\n' })
  })

  it('tests its schedules in no time, with a clock of its own', async () => {
    const clock = new TestClock()
    const belfry = await open({ clock })
    const planned: number[] = []
    belfry.handle('report', (run) => void planned.push(run.plannedAt))
    const { schedule } = await belfry.schedules.put({
      name: 'report',
      cron: '0 9 * * *',
      target: { handler: 'report' },
    })
    await belfry.drain()
    expect(planned).toEqual([])
    clock.advance(86_400_000)
    await belfry.drain()
    expect(planned).toEqual([schedule.nextRunAt])
    expect(await belfry.schedules.history('report')).toMatchObject([{ outcome: 'completed', count: 1 }])
  })

  it('keeps its secrets in a folder, for commands and for HTTP', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'belfry-secrets-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    writeFileSync(join(folder, 'HOOK'), 's3cret-of-the-hook', { mode: 0o600 })
    const belfry = await open({ secretsFolder: folder })
    const seen: (string | undefined)[] = []
    const url = await served((request) => seen.push(request.headers.authorization))
    await belfry.queues.set('default', { maxAttempts: 1 })
    await belfry.start()
    const secret = { secret: 'HOOK' }
    const [command, http] = await belfry.runs.enqueueMany([
      { target: { command: 'test "$HOOK" = s3cret-of-the-hook', env: { HOOK: secret } } },
      { target: { http: { url, headers: { authorization: secret } } }, timeout: '10s' },
    ])
    expect(await belfry.runs.wait(command?.id ?? '')).toMatchObject({ status: 'completed' })
    expect(await belfry.runs.wait(http?.id ?? '')).toMatchObject({ status: 'completed' })
    expect(seen).toEqual(['s3cret-of-the-hook'])
  })

  it('calls no address that its operator forbids', async () => {
    const belfry = await open({ network: { allowLoopback: false } })
    const url = await served(() => expect.unreachable('It was called.'))
    await belfry.start()
    await belfry.queues.set('default', { maxAttempts: 1 })
    const { id } = await belfry.runs.enqueue({ target: { http: { url } } })
    expect(await belfry.runs.wait(id)).toMatchObject({
      status: 'parked',
      parked: { reason: expect.stringContaining('allowLoopback') },
    })
  })

  it('takes back what a dead process of this machine held, when it starts', async () => {
    const store = `sqlite:${sqliteFile()}`
    const identity = ownIdentity()
    if (identity === null) return expect.unreachable('This system tells nothing about processes.')
    const belfry = await open({ store })
    belfry.handle('report', () => 'done after all')
    const { id } = await belfry.runs.enqueue({ target: { handler: 'report' } })
    const { pid } = spawnSync('true')
    const dead = await openStore(store)
    const can = { kinds: ['handler'] }
    const process = { ...identity, pid }
    const workerId = await dead.do(registerWorker, { name: 'dead', host: 'here', can, beatMs: 60_000, process })
    await dead.lease({ queue: 'default', workerId, claimId: 'of the dead', can, limit: 1 })
    await dead.close()
    const reclaimed = heard(belfry, 'run.reclaimed')
    await belfry.start()
    expect(await reclaimed).toMatchObject({ runId: id, because: 'holder-dead' })
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed', fence: 2 })
  })

  it('goes on when a listener throws or its promise is rejected', async () => {
    const belfry = await open()
    belfry.handle('report', () => 1)
    belfry.on('run.started', () => {
      throw new Error('a listener of the program')
    })
    belfry.on('run.completed', async () => {
      throw new Error('another, later')
    })
    await belfry.start()
    const { id } = await belfry.runs.enqueue({ target: { handler: 'report' } })
    expect(await belfry.runs.wait(id)).toMatchObject({ status: 'completed' })
  })

  it('has its runs ended whatever number a handler made of the time to wait', async () => {
    const belfry = await open()
    await belfry.queues.set('default', { maxAttempts: 1 })
    belfry.handle('report', () => {
      throw new RunFailure('no rows', { retryAfterMs: 1 / 0 })
    })
    await belfry.start()
    const { id } = await belfry.runs.enqueue({ target: { handler: 'report' } })
    expect(await belfry.runs.wait(id)).toMatchObject({ parked: { reason: 'no rows (attempt 1/1)' } })
  })

  it('is told when it listens for what is never told', async () => {
    const belfry = await open()
    expect((await errorOf(() => belfry.on('run.complete' as never, () => 1))).message).toContain('run.completed')
    expect((await errorOf(() => belfry.once('run.failed', undefined as never))).code).toBe('invalid')
  })

  it('that forgets to stop is stopped by close, and closing twice is closing once', async () => {
    const file = sqliteFile()
    const belfry = await open({ store: `sqlite:${file}` })
    await belfry.start()
    const { id } = await belfry.runs.enqueue({ target: { handler: 'nobody' } })
    const waiting = errorOf(belfry.runs.wait(id))
    await Promise.all([belfry.close(), belfry.close()])
    await belfry.close()
    expect((await waiting).message).toContain('closed')
    expect((await errorOf(belfry.runs.get(id))).message).toBe('This Belfry is closed.')
    expect((await errorOf(belfry.start())).code).toBe('unavailable')
    expect((await errorOf(() => belfry.handle('x', () => 1))).code).toBe('unavailable')
    const again = await open({ store: `sqlite:${file}` })
    expect(await again.runs.get(id)).toMatchObject({ status: 'ready' })
    expect(await again.workers.list()).toMatchObject([{ stoppedAt: expect.any(Number) }])
  })

  it('may leave closing to the end of a block', async () => {
    const belfry = await open()
    await belfry[Symbol.asyncDispose]()
    expect((await errorOf(belfry.runs.list())).code).toBe('unavailable')
  })

  it('is stopped by a signal of its own', async () => {
    const belfry = await open()
    const controller = new AbortController()
    await belfry.start({ signal: controller.signal })
    const stopped = heard(belfry, 'worker.stopped')
    controller.abort()
    await stopped
  })
})

describe('what Belfry is opened and started with', () => {
  it.each([
    ['an unknown option', { stroe: 'memory:' }, 'stroe', /store, if/],
    ['a namespace that is no text', { namespace: 5 }, 'namespace', /a text/],
    ['a clock without an alarm', { clock: { now: () => 1, monotonic: () => 1 } }, 'clock', /now, monotonic and after/],
    ['a log that is none', { log: 'info' }, 'log', /pino/],
    ['a lease of no length', { leaseMs: 0 }, 'leaseMs', /1 or more/],
    ['an unknown rule of the network', { network: { allowAll: true } }, 'network.allowAll', /one of/],
  ])('is refused: %s', async (_, options, field, expected) => {
    const [problem] = await problemsIn(Belfry.open({ store: 'memory:', ...options } as never))
    expect(problem).toMatchObject({ field, expected: expect.stringMatching(expected) })
  })

  it('is refused by the engine where lease and renewal do not fit, and the store is let go', async () => {
    const file = sqliteFile()
    const error = await errorOf(Belfry.open({ store: `sqlite:${file}`, leaseMs: 1_000, renewMs: 900 }))
    expect(error.message).toContain('renewMs')
    const handle = new DatabaseSync(file)
    onTestFinished(() => handle.close())
    // Whoever has a file open stands in it by name.
    expect(handle.prepare('select * from opener').all()).toEqual([])
  })

  it('is refused where a start or a stop asks for what is not', async () => {
    const belfry = await open()
    expect((await problemsIn(belfry.start({ slots: 0 })))[0]?.field).toBe('slots')
    expect((await problemsIn(belfry.start({ slot: 1 } as never)))[0]?.expected).toContain('slots')
    expect((await problemsIn(belfry.stop({ grace: 5 } as never)))[0]?.field).toBe('grace')
    await expect(belfry.start({ signal: AbortSignal.abort('before it began') })).rejects.toBe('before it began')
    expect(belfry.isRunning).toBe(false)
  })

  it('may have a clock of its own, but not beside a worker that lives by another', async () => {
    const store = `sqlite:${sqliteFile()}`
    const worker = await open({ store, beatMs: 60_000 })
    await worker.start()
    for (const now of [Date.now(), 0, 4e12]) {
      const error = await errorOf(Belfry.open({ store, clock: new TestClock(now) }))
      expect(error).toMatchObject({ code: 'conflict', hint: expect.stringContaining('memory:') })
    }
    await worker.stop()
    const tester = await open({ store, clock: new TestClock() })
    await worker.start()
    expect((await errorOf(tester.start())).code).toBe('conflict')
  })
})

describe('handlers', () => {
  it('have one function each, with a name that can be one', async () => {
    const belfry = await open()
    belfry.handle('report', () => 1)
    expect(await errorOf(() => belfry.handle('report', () => 2))).toMatchObject({ code: 'conflict' })
    expect((await problemsIn(() => belfry.handle('', () => 1)))[0]?.field).toBe('target.handler')
    expect((await errorOf(() => belfry.handle('x', 5 as never))).message).toContain('must be a function')
  })

  it('settle target and payload of what is enqueued through them', async () => {
    const belfry = await open()
    const report = belfry.handle('report', (run: HandlerRun<number>) => run.payload)
    expect((await problemsIn(report.enqueue(1, { payload: 2 } as never)))[0]?.field).toBe('payload')
    const { id } = await report.enqueue(5, { tags: ['a'] })
    expect(await belfry.runs.get(id)).toMatchObject({ target: report.target, payload: 5, tags: ['a'] })
  })
})

describe("work that is enqueued in the caller's own transaction", () => {
  it('is there when it commits, and never was when it rolls back (SQLite)', async () => {
    const file = sqliteFile()
    const belfry = await open({ store: `sqlite:${file}` })
    const tx = new DatabaseSync(file)
    onTestFinished(() => tx.close())
    tx.exec('begin immediate')
    const lost = await belfry.runs.enqueue({ target: null, payload: 1 }, { tx })
    tx.exec('rollback')
    tx.exec('begin immediate')
    const [kept] = await belfry.runs.enqueueMany([{ target: null, payload: 2 }], { tx })
    tx.exec('commit')
    expect((await belfry.runs.list()).runs.map(({ id }) => id)).toEqual([kept?.id])
    expect(lost).toMatchObject({ created: true, queueCreated: { maxConcurrent: 5 } })
  })

  it('is there when it commits, and never was when it rolls back (PostgreSQL)', async () => {
    const schema = `library_${process.pid}`
    const belfry = await open({ store: postgresUrl(), schema, allowNonDurable: true })
    const tx = new pg.Client(postgresUrl())
    await tx.connect()
    onTestFinished(() => tx.end())
    await tx.query('begin')
    await belfry.runs.enqueue({ target: null, payload: 1, queue: 'lost' }, { tx })
    await tx.query('rollback')
    await tx.query('begin')
    const kept = await belfry.runs.enqueue({ target: null, payload: 2 }, { tx })
    await tx.query('commit')
    expect((await belfry.runs.list()).runs.map(({ id }) => id)).toEqual([kept.id])
  })

  it('is refused where tx is a pg.Pool, whose next statement may go to another client', async () => {
    const schema = `library_pool_${process.pid}`
    const belfry = await open({ store: postgresUrl(), schema, allowNonDurable: true })
    const pool = new pg.Pool({ connectionString: postgresUrl(), max: 1 })
    onTestFinished(() => pool.end())
    await pool.query('begin')
    const refused = await errorOf(belfry.runs.enqueue({ target: null }, { tx: pool }))
    await pool.query('commit')
    expect(refused).toMatchObject({ code: 'invalid', hint: expect.stringContaining('await pool.connect()') })
    const tx = await pool.connect()
    await tx.query('begin')
    const kept = await belfry.runs.enqueue({ target: null }, { tx })
    await tx.query('commit')
    tx.release()
    expect((await belfry.runs.list()).runs.map(({ id }) => id)).toEqual([kept.id])
  })

  it('is refused as invalid where tx is a SQLite handle that is closed', async () => {
    const file = sqliteFile()
    const belfry = await open({ store: `sqlite:${file}` })
    const tx = new DatabaseSync(file)
    tx.close()
    const refused = await errorOf(belfry.runs.enqueue({ target: null }, { tx }))
    expect(refused).toMatchObject({ code: 'invalid', message: expect.stringContaining('closed') })
  })
})
