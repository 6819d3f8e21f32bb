import { describe, expect, it } from 'vitest'
import { outcomeOf } from '../../../src/core/run/expect.ts'
import type { Attempt } from '../../../src/targets/attempt.ts'
import { handlerExecutor } from '../../../src/targets/handler/handler-executor.ts'
import { RunFailure } from '../../../src/targets/handler/handler-failure.ts'
import { type Handler, type HandlerRun, RunStopped } from '../../../src/targets/handler/handler-run.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'

function attemptOf(changed: Partial<Attempt> = {}): Attempt {
  return {
    runId: 'r-11',
    fence: 3,
    claimId: 'c',
    queue: 'reports',
    scheduleId: 's-11',
    plannedAt: 1_800_000_000_000,
    source: 'cron',
    idempotencyKey: 'key-1',
    traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    target: { handler: 'report' },
    payload: { day: 'today' },
    signal: new AbortController().signal,
    clock: new TestClock(),
    output: () => undefined,
    usage: () => undefined,
    account: null,
    utilisation: () => undefined,
    state: () => undefined,
    drained: async () => undefined,
    ...changed,
  }
}

const ended = <Result>(handle: Handler<never, Result>, changed?: Partial<Attempt>) =>
  handlerExecutor(handle)(attemptOf(changed))

describe('a handler', () => {
  it('is handed what is known of its run', async () => {
    const attempt = attemptOf()
    let seen: HandlerRun<{ day: string }> | undefined
    await handlerExecutor((run: HandlerRun<{ day: string }>) => {
      seen = run
    })(attempt)
    expect(seen).toMatchObject({
      id: 'r-11',
      payload: { day: 'today' },
      attempt: 3,
      plannedAt: 1_800_000_000_000,
      source: 'cron',
      queue: 'reports',
      scheduleId: 's-11',
      idempotencyKey: 'key-1',
      traceparent: attempt.traceparent,
    })
    expect(seen?.signal).toBe(attempt.signal)
  })

  it.each([
    ['a text', 'done', { text: 'done', json: 'done' }],
    ['data', { rows: 3 }, { json: { rows: 3 } }],
    ['nothing', undefined, { json: undefined }],
    ['null', null, { json: null }],
  ])('that answers %s has succeeded with it', async (_, result, facts) => {
    for (const handle of [() => result, async () => result]) {
      const end = await ended(handle)
      expect(end).toEqual({ facts, result })
      expect(outcomeOf({ facts: end.facts })).toEqual({ kind: 'success' })
    }
  })

  it('that answers a promise of another make is waited for', async () => {
    const other = thenable(() => (resolve: (value: number) => void) => resolve(5))
    expect(await ended(() => other)).toMatchObject({ result: 5 })
  })
})

/** Something with a `then` that is no promise of ours. */
function thenable(get: () => unknown): object {
  return Object.defineProperty({}, 'then', { get })
}

describe('what a handler throws', () => {
  const thrown = async (what: unknown) => {
    const [atOnce, later] = await Promise.all([
      ended(() => {
        throw what
      }),
      ended(() => Promise.reject(what)),
    ])
    expect(atOnce).toEqual(later)
    expect(atOnce).not.toHaveProperty('result')
    return atOnce.facts
  }

  class OutOfPaper extends Error {
    override name = 'OutOfPaper'
  }

  it.each<[string, unknown, string]>([
    ['an error', new Error('no paper'), 'no paper'],
    ['an error of a kind', new TypeError('no paper'), 'TypeError: no paper'],
    ['an error of its own kind', new OutOfPaper('tray 2'), 'OutOfPaper: tray 2'],
    ['a run failure', new RunFailure('no paper'), 'no paper'],
    ['an error without words', new RangeError(), 'RangeError'],
    ['a plain error without words', new Error(''), 'threw something without a message'],
    ['a text', 'no paper', 'no paper'],
    ['an empty text', '', 'threw an empty text'],
    ['nothing', undefined, 'threw undefined'],
    ['null', null, 'threw null'],
    ['a number', 7, 'threw 7'],
    ['a symbol', Symbol('x'), 'threw a symbol'],
    ['a function', () => 1, 'threw a function'],
    ['an object', { message: 'no paper' }, 'no paper'],
    ['an object without words', {}, 'threw something without a message'],
    ['lines', new Error('a\nb\u001b[31m'), 'a b [31m'],
  ])('be it %s, is its failure', async (_, what, error) => {
    expect(await thrown(what)).toEqual({ error })
  })

  it('is abbreviated', async () => {
    expect((await thrown(new Error('x'.repeat(1_000_000)))).error).toHaveLength(300)
  })

  it('says whether to try again, and when', async () => {
    expect(await thrown(new RunFailure('no', { retryable: false }))).toEqual({
      error: 'no',
      retryable: false,
    })
    expect(await thrown(new RunFailure('no', { retryable: true, retryAfterMs: 5 }))).toMatchObject({
      retryable: true,
      retryAfterMs: 5,
    })
    expect(await thrown(Object.assign(new Error('no'), { retryable: false, retryAfterMs: 0 }))).toMatchObject({
      retryable: false,
      retryAfterMs: 0,
    })
    expect(await thrown(Object.assign(new Error('no'), { retryable: 'no' }))).toEqual({ error: 'no' })
  })

  it.each([Number.POSITIVE_INFINITY, Number.NaN, -1, Number.NEGATIVE_INFINITY, '5', 5n, null])(
    'keeps its reason though it names no time to wait for: %s',
    async (retryAfterMs) => {
      for (const odd of [new RunFailure('no', { retryAfterMs } as never), { message: 'no', retryAfterMs }]) {
        expect(await thrown(odd)).toEqual({ error: 'no' })
      }
    },
  )

  it('waits for an hour at most, however long it asks for', async () => {
    for (const retryAfterMs of [3_600_001, Number.MAX_VALUE]) {
      expect(await thrown(new RunFailure('no', { retryAfterMs }))).toMatchObject({ retryAfterMs: 3_600_000 })
    }
  })

  it('breaks nothing, though it throws when it is looked at', async () => {
    const trap = () => {
      throw new Error('looked at')
    }
    const revoked = Proxy.revocable({}, {})
    revoked.revoke()
    const hostile = [
      {
        get message() {
          return trap()
        },
        get name() {
          return trap()
        },
        get retryable() {
          return trap()
        },
      },
      { toString: trap, [Symbol.toPrimitive]: trap, message: { toString: trap } },
      new Proxy({}, { get: trap, getPrototypeOf: trap }),
      revoked.proxy,
    ]
    for (const what of hostile) expect(await thrown(what)).toEqual({ error: 'threw something without a message' })
    const { facts } = await ended(() => thenable(trap))
    expect(facts).toEqual({ error: 'looked at' })
  })

  it('touches no neighbour, nor does a handler that never ends', async () => {
    const all = [
      ended(() => new Promise(() => undefined)),
      ended(() => Promise.reject(new Error('no'))),
      ended(() => 'fine'),
    ]
    expect(await all[2]).toMatchObject({ result: 'fine' })
    expect(await Promise.race([all[0], new Promise((resolve) => setImmediate(resolve, 'hangs'))])).toBe('hangs')
  })
})

describe('a heartbeat', () => {
  it('lets others go on, and passes while the run is not stopped', async () => {
    const order: string[] = []
    await ended(async ({ heartbeat }) => {
      setImmediate(() => order.push('another'))
      await heartbeat()
      order.push('the handler')
    })
    expect(order).toEqual(['another', 'the handler'])
  })

  it('tells a handler that computes for long that it was stopped, and why', async () => {
    const stop = new AbortController()
    let told: unknown
    const { facts } = await ended(
      async (run) => {
        setImmediate(() => stop.abort('lease-lost'))
        try {
          for (;;) await run.heartbeat()
        } catch (error) {
          told = error
          throw error
        }
      },
      { signal: stop.signal },
    )
    expect(told).toBeInstanceOf(RunStopped)
    expect(told).toMatchObject({ name: 'AbortError', reason: 'lease-lost' })
    expect(facts.error).toBe('AbortError: The run r-11 has been stopped: lease-lost.')
  })
})

describe('what a handler logs', () => {
  it('is a line of the run’s output, whatever it is', async () => {
    const lines: string[] = []
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const hostile = {
      [Symbol.for('nodejs.util.inspect.custom')]() {
        throw new Error('no')
      },
    }
    await ended(
      ({ log }) => {
        log('read', 3, 'rows', { a: [1] })
        log()
        log(circle)
        log(hostile)
      },
      { output: (text) => void lines.push(text) },
    )
    expect(lines).toEqual([
      'read 3 rows { a: [ 1 ] }\n',
      '\n',
      '<ref *1> { self: [Circular *1] }\n',
      '[cannot be shown]\n',
    ])
  })
})
