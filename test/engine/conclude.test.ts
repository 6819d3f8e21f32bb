import { describe, expect, it } from 'vitest'
import { executeTarget, type TargetEnd, type TargetLimits } from '../../src/engine/execute-target.ts'
import type { EnginePart } from '../../src/engine/part.ts'
import type { AttemptEnd, Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { cancelRun } from '../../src/store/runs/cancel-run.ts'
import type { Attempt } from '../../src/targets/attempt.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { deferred, openPlace, pass, stage, stopped } from './stage.ts'

const target = { handler: 'work' }

function part(concludes: NonNullable<EnginePart['concludes']>, more: Partial<EnginePart> = {}): EnginePart {
  return { name: 'asker', concludes, ...more }
}

/** A store that remembers the ends it was given. */
async function recording(): Promise<{ store: Store; ends: AttemptEnd[] }> {
  const store = await openPlace()
  const ends: AttemptEnd[] = []
  const settle: Store['settle'] = (given) => {
    ends.push(...given)
    return store.settle(given)
  }
  return { store: new Proxy(store, { get: (_, name) => (name === 'settle' ? settle : bound(store, name)) }), ends }
}

function bound(store: Store, name: string | symbol): unknown {
  const value = Reflect.get(store, name)
  return typeof value === 'function' ? value.bind(store) : value
}

describe('what parts learn when a target has succeeded', () => {
  it('is written with its end, and the run is at work until then', async () => {
    const gate = deferred()
    const { store, ends } = await recording()
    const here = await stage({ store, parts: [part(() => gate.promise.then(() => ({ answer: 42 })))] })
    here.handle('work', () => 'done')
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('run.executing')
    expect(await store.look(findRun, id)).toMatchObject({ status: 'leased' })
    gate.resolve()
    await here.until('run.completed')
    expect(ends).toMatchObject([
      { runId: id, outcome: { kind: 'success' }, result: 'done', learned: { asker: { answer: 42 } } },
    ])
    await here.engine.stop()
    await store.close()
  })

  it('is not asked for where the target failed, nor for runs that the part does not want', async () => {
    const asked: string[] = []
    const noting = part(async ({ runId }) => asked.push(runId), {
      concludesFor: ({ payload }) => payload !== 'not this',
    })
    const here = await stage({ parts: [noting] })
    here.handle('work', ({ payload }) => {
      if (payload === 'fails') throw new Error('broken')
    })
    await here.engine.start()
    const ids = await Promise.all(
      ['fails', 'not this', 'this'].map((payload) => here.enqueue({ target, payload, onExhausted: 'fail' })),
    )
    await here.until('run.completed', 2)
    await here.until('run.retrying')
    expect(asked).toEqual([ids[2]])
  })

  it.each<[string, () => Promise<never>]>([
    [
      'throws at once',
      () => {
        throw new Error('no answer')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no answer'))],
  ])('and the success stands where a part %s, which is told', async (_, concludes) => {
    const here = await stage({ parts: [part(concludes)] })
    here.handle('work', () => undefined)
    await here.engine.start()
    await here.enqueue({ target })
    expect(await here.until('run.completed')).toMatchObject({ reason: 'success' })
    expect(here.of('worker.failed')).toMatchObject([{ loop: 'asker', error: { message: 'no answer' } }])
  })

  it('is given up by a forced stop, and the success is written: the run is not done again', async () => {
    const { store, ends } = await recording()
    const aborted = deferred<string>()
    const waiting = part(
      (_lease, _context, signal) =>
        new Promise(() => signal.addEventListener('abort', () => aborted.resolve(signal.reason))),
    )
    const here = await stage({ store, parts: [waiting] })
    here.handle('work', () => undefined)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('run.executing')
    await here.engine.stop({ graceMs: 0 })
    expect(await aborted.promise).toBe('shutdown')
    expect(await store.look(findRun, id)).toMatchObject({ status: 'completed', attempts: 0 })
    expect(ends).toMatchObject([{ outcome: { kind: 'success' } }])
    expect(ends[0]).not.toHaveProperty('learned')
    await store.close()
  })

  it('is given up by a cancel, and the success is told as one that came late for it', async () => {
    const here = await stage({ parts: [part((_lease, _context, signal) => stopped({ signal } as Attempt))] })
    here.handle('work', () => undefined)
    await here.engine.start()
    const id = await here.enqueue({ target })
    await here.next('run.executing')
    expect(await here.store.do(cancelRun, id, 'no longer wanted')).toBe('cancel-requested')
    expect(await here.until('run.completed')).toMatchObject({ runId: id, reason: 'late-cancel' })
  })
})

describe('a target beside that of a run', () => {
  const limits = { timeoutMs: 10_000, outputLengthMax: 10 }

  /** Executes it before a run starts, and answers how it ended. */
  async function beside(
    own: Readonly<Record<string, unknown>>,
    run: (attempt: Attempt) => unknown,
    { clock = new TestClock(), ...more }: Partial<TargetLimits> & { clock?: TestClock } = {},
  ) {
    const ends: TargetEnd[] = []
    const begins: EnginePart['begins'] = async (lease, context, signal) => {
      ends.push(await executeTarget(context, lease, own, { ...limits, signal, ...more }))
      return { go: true }
    }
    const here = await stage({ clock, parts: [{ name: 'beside', begins }] })
    here.handle('aside', run).handle('work', () => undefined)
    await here.engine.start()
    const id = await here.enqueue({ target, payload: { secret: 'of the run' } })
    return { here, id, clock, ends }
  }

  it('knows the run, not its payload, and what it writes is not the output of the run', async () => {
    const seen: Partial<Attempt>[] = []
    const { here, id, ends } = await beside({ handler: 'aside' }, (attempt) => {
      const { runId, fence, claimId, payload, target: own } = attempt
      seen.push({ runId, fence, claimId, payload, target: own })
      attempt.output('0123456')
      attempt.output('789 and more')
      return true
    })
    await here.until('run.completed')
    expect(seen).toMatchObject([{ runId: id, fence: 1, target: { handler: 'aside' } }])
    expect(seen[0]?.payload).toBeUndefined()
    expect(ends).toEqual([{ facts: { json: true }, output: '0123456789' }])
  })

  it('that throws, or that this worker cannot execute, has an error for its facts', async () => {
    const threw = await beside({ handler: 'aside' }, () => {
      throw new Error('broken')
    })
    await threw.here.until('run.completed')
    expect(threw.ends).toEqual([{ facts: { error: 'broken' }, output: '' }])
    const absent = await beside({ handler: 'elsewhere' }, () => true)
    await absent.here.until('run.completed')
    expect(absent.ends[0]?.facts.error).toBe('this worker cannot execute the handler elsewhere')
  })

  it('is told to stop at its timeout, and left behind when it does not', async () => {
    const obeys = await beside({ handler: 'aside' }, stopped)
    await obeys.here.next('lease.ticked')
    await pass(obeys.clock, 10_000)
    await obeys.here.until('run.completed')
    expect(obeys.ends[0]?.facts).toEqual({ error: 'timeout after 10s' })
    const stays = await beside({ handler: 'aside' }, () => new Promise(() => undefined))
    await stays.here.next('lease.ticked')
    await pass(stays.clock, 11_000)
    await stays.here.until('run.completed')
    expect(stays.ends[0]?.facts).toEqual({ error: 'timeout after 10s' })
  })
})
