import { afterEach, beforeEach, expect } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { Events } from '../../src/engine/events.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import type { Problem } from '../../src/operations/problem.ts'
import { Waits } from '../../src/operations/wait.ts'
import { openStore } from '../../src/store/open.ts'
import type { Lease, Store } from '../../src/store/port.ts'
import { TestClock } from '../../src/testing/clock.ts'

export const startAt = Date.UTC(2026, 0, 5, 9)

/** The verbs' context over a store in memory, with a clock that stands still until it is told to move. */
export class Desk {
  readonly clock: TestClock
  readonly events = new Events()
  readonly store: Store
  readonly context: OperationContext
  #claims = 0

  constructor(store: Store, clock: TestClock) {
    this.store = store
    this.clock = clock
    this.context = {
      store,
      clock,
      actor: { name: 'tester', door: 'test' },
      zone: 'Europe/Paris',
      folder: '/srv/app',
      defaultMaxConcurrent: 5,
      waits: new Waits({ store, clock, events: this.events }),
    }
  }

  static async open(): Promise<Desk> {
    const clock = new TestClock(startAt)
    return new Desk(await openStore('memory:', { clock }), clock)
  }

  /** Leases what is ready, as a worker would. */
  async lease(queue = 'default'): Promise<Lease[]> {
    const can = { kinds: ['handler', 'command', 'http'], host: true }
    const workerId = await this.store.registerWorker({ name: 'w', host: 'h', can, beatMs: 60_000 })
    const claimId = `claim ${++this.#claims}`
    return (await this.store.lease({ queue, workerId, claimId, can, limit: 100 })).leases
  }

  /** Leases what is ready and ends it well. */
  async work(queue = 'default'): Promise<void> {
    const ends = (await this.lease(queue)).map(({ runId, fence, scheduleId }) => {
      return { runId, fence, scheduleId, outcome: { kind: 'success' as const } }
    })
    await this.store.settle(ends)
  }
}

/** A desk of its own for each test. */
export function atDesk(): () => Desk {
  let desk: Desk
  beforeEach(async () => {
    desk = await Desk.open()
  })
  afterEach(() => desk.store.close())
  return () => desk
}

/** The error that something must end in. */
export async function errorOf(doing: Promise<unknown> | (() => unknown)): Promise<BelfryError> {
  try {
    await (typeof doing === 'function' ? doing() : doing)
  } catch (error) {
    expect(error).toBeInstanceOf(BelfryError)
    return error as BelfryError
  }
  return expect.unreachable('It was not refused.')
}

export async function problemsIn(doing: Promise<unknown> | (() => unknown)): Promise<Problem[]> {
  const error = await errorOf(doing)
  expect(error.code).toBe('invalid')
  const problems = error.details?.problems as Problem[]
  for (const { field, problem, expected } of problems) {
    expect(error.message).toContain(field)
    expect(error.message).toContain(problem)
    expect(error.message).toContain(expected)
  }
  return problems
}
