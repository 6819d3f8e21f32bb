import { describe, expect, it } from 'vitest'
import type { Begin, EnginePart } from '../../src/engine/part.ts'
import type { Lease, Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { listAttempts } from '../../src/store/reads/list-attempts.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { deferred, settleDown, stage } from './stage.ts'

const target = { handler: 'work' }

function part(begins: NonNullable<EnginePart['begins']>, name = 'guard'): EnginePart {
  return { name, begins }
}

const always = (answer: Begin) => part(async () => answer)

/** A run that one part was asked about, and what became of it. */
async function asked(...parts: EnginePart[]) {
  const clock = new TestClock()
  const here = await stage({ clock, parts })
  let started = 0
  here.handle('work', () => {
    started++
  })
  await here.engine.start()
  const id = await here.enqueue({ target })
  await here.next('settle.written')
  await settleDown()
  return { here, id, started: () => started, run: await here.store.look(findRun, id) }
}

describe('what parts say before a run starts', () => {
  it('goes: it is told as started when every part has let it go, in the order of the parts', async () => {
    const order: string[] = []
    const noting = (name: string) =>
      part(async ({ fence }: Lease) => {
        order.push(`${name} ${fence}`)
        return { go: true }
      }, name)
    const { here, run, started } = await asked(noting('first'), noting('second'))
    expect(order).toEqual(['first 1', 'second 1'])
    expect(run).toMatchObject({ status: 'completed' })
    expect([started(), here.of('run.started').length]).toEqual([1, 1])
  })

  it('skips: it ends without an attempt, and no later part is asked', async () => {
    const neverAsked = part(async () => {
      throw new Error('asked')
    })
    const { here, run, started } = await asked(always({ skip: 'maintenance' }), neverAsked)
    expect(run).toMatchObject({ status: 'skipped', attempts: 0, end: { reason: 'maintenance' } })
    expect([started(), here.of('run.started').length]).toEqual([0, 0])
    expect(here.of('run.skipped')).toMatchObject([{ reason: 'maintenance' }])
  })

  it('defers: it is ready again at the instant, with all its attempts', async () => {
    const until = new TestClock().now() + 3_600_000
    const { here, id, run, started } = await asked(always({ defer: { until, reason: 'budget spent' } }))
    expect(run).toMatchObject({ status: 'ready', attempts: 0, releases: 0, waiting: { until } })
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'deferred', reason: 'budget spent' }])
    expect(started()).toBe(0)
    expect(here.of('run.retrying')).toMatchObject([{ reason: 'budget spent', nextEligibleAt: until }])
  })

  it('fails: it uses an attempt, and another one follows unless that is said to be of no use', async () => {
    expect((await asked(always({ fail: 'no such account' }))).run).toMatchObject({ status: 'ready', attempts: 1 })
    const final = await asked(always({ fail: 'no such account', retryable: false }))
    expect(final.run).toMatchObject({ status: 'parked', attempts: 1 })
  })

  it('throws: nothing has begun, so that another attempt follows, and its reason names the part', async () => {
    const broken = part(async () => {
      throw new Error('no answer')
    })
    const { here, id, run } = await asked(broken)
    expect(run).toMatchObject({ status: 'ready', attempts: 1 })
    const reason = 'guard failed before the run: no answer'
    expect(await here.store.look(listAttempts, id)).toMatchObject([{ outcome: 'failed', reason }])
  })

  it('is cancelled meanwhile: nothing starts', async () => {
    const gate = deferred()
    const here = await stage({
      parts: [
        part(async (_lease, _context, signal) => {
          await Promise.race([gate.promise, new Promise((resolve) => signal.addEventListener('abort', resolve))])
          return { go: true }
        }),
      ],
    })
    here.handle('work', () => {
      throw new Error('started')
    })
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('lease.ticked')
    expect(await here.store.do(cancelRun, id, 'no longer wanted')).toBe('cancel-requested')
    await here.until('run.cancelled')
    expect(here.of('run.started')).toEqual([])
    gate.resolve()
  })

  it('never answers, and the worker stops: it is given back without an attempt', async () => {
    const here = await stage({ parts: [part(() => new Promise(() => undefined))] })
    here.handle('work', () => undefined)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('lease.ticked')
    await here.engine.stop({ graceMs: 0 })
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0, fence: 1 })
    expect(here.of('run.started')).toEqual([])
  })

  it('is asked when the worker is told to stop: it starts nothing afterwards', async () => {
    const gate = deferred()
    const here = await stage({ parts: [part(() => gate.promise.then(() => ({ go: true })))] })
    here.handle('work', () => undefined)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('lease.ticked')
    const stopping = here.engine.stop()
    await here.until('worker.stopping')
    gate.resolve()
    await stopping
    expect(await here.store.look(findRun, id)).toMatchObject({ status: 'ready', attempts: 0 })
    expect(here.of('run.started')).toEqual([])
  })
})

describe('what a crash left half-made', () => {
  const aliveIn = async (store: Store) => (await store.look(listWorkers)).filter(({ stoppedAt }) => stoppedAt === null)

  it('is mended before the worker leases anything', async () => {
    const gate = deferred()
    const mended: string[] = []
    const recovers = async (_: unknown, workerId: string) => {
      await gate.promise
      mended.push(workerId)
    }
    const here = await stage({ parts: [{ name: 'mender', recovers }] })
    here.handle('work', () => mended.push('work'))
    await here.enqueue({ target })
    const starting = here.engine.start()
    await settleDown()
    expect(mended).toEqual([])
    gate.resolve()
    await starting
    await here.until('run.completed')
    expect(mended).toEqual([here.engine.workerId, 'work'])
  })

  it('and cannot be mended: the worker does not start, and nobody takes it for one at work', async () => {
    const recovers = async () => {
      throw new Error('half-made')
    }
    const here = await stage({ parts: [{ name: 'mender', recovers }] })
    await expect(here.engine.start()).rejects.toThrow('half-made')
    expect(here.engine.isRunning).toBe(false)
    expect(await aliveIn(here.store)).toEqual([])
  })
})
