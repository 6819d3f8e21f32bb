import { afterEach, beforeEach, expect } from 'vitest'
import { BelfryError, type ErrorCode } from '../../src/core/error.ts'
import { Events } from '../../src/engine/events.ts'
import { kinds } from '../../src/kinds.ts'
import { openStore } from '../../src/open-store.ts'
import { bind } from '../../src/operations/bind.ts'
import { errorsOfAll, errorsOfDoors } from '../../src/operations/error-codes.ts'
import type { Problem } from '../../src/operations/input/refuse-input.ts'
import type { AnyOperation } from '../../src/operations/operation.ts'
import type { OperationContext } from '../../src/operations/operation-context.ts'
import { Waits } from '../../src/operations/run/waits.ts'
import type { Lease, Store } from '../../src/store/port.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import {
  attemptFacts,
  budgetsOf,
  checks,
  fields,
  holdReasons,
  nouns,
  operations,
  origins,
  queues,
  sections,
  subjects,
} from '../../src/table.ts'
import { TestClock } from '../../src/testing/test-clock.ts'

export const startAt = Date.UTC(2026, 0, 5, 9)

/** The verbs' context over a store in memory, with a clock that stands still until it is told to move. */
export class Desk {
  readonly clock: TestClock
  readonly events = new Events()
  readonly store: Store
  readonly context: OperationContext
  /** What lets the desk's owner in at a door that asks for it, where one was made. */
  token = ''
  #claims = 0
  #drawn = 0

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
      attemptFacts,
      budgetsOf,
      origins,
      holdReasons,
      checks,
      fields,
      kinds,
      queues,
      sections,
      subjects,
      operationOf: (noun, verb) => operations.find((each) => each.noun === noun && each.verb === verb),
      randomHex: (bytes) => (++this.#drawn).toString(16).padStart(2 * bytes, '0'),
    }
  }

  /** On a store in memory, or in a schema of its own on a server. */
  static async open({ url = 'memory:', schema }: { url?: string; schema?: string } = {}): Promise<Desk> {
    const clock = new TestClock(startAt)
    return new Desk(await openStore(url, { clock, ...(schema !== undefined && { schema }) }), clock)
  }

  /** Leases what is ready, as a worker would. */
  async lease(queue = 'default'): Promise<Lease[]> {
    const can = { kinds: ['handler', 'command', 'http'], host: true }
    const workerId = await this.store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: 60_000 })
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

type Nouns = typeof nouns
type ByPlural = {
  [Noun in keyof Nouns as Nouns[Noun]['plural']]: ReturnType<typeof bind<Nouns[Noun]['operations']>>
}

/** The verbs as a program has them, each held to what its entry of the table says of answers and refusals. */
export function verbsAt(context: () => OperationContext): ByPlural {
  const all = Object.values(nouns).map(({ plural, operations }) => [plural, bind(kept(operations), context)])
  return Object.fromEntries(all) as ByPlural
}

function kept<Operations extends Readonly<Record<string, AnyOperation>>>(operations: Operations): Operations {
  const entries = Object.entries(operations).map(([verb, operation]) => [verb, keptTo(operation)])
  return Object.fromEntries(entries) as Operations
}

/** A verb that answers what its schema says, refuses with what it says it does, and loses nothing as JSON. */
export function keptTo(operation: AnyOperation): AnyOperation {
  const { noun, verb, output, errors } = operation
  return {
    ...operation,
    async call(...args) {
      const answer = await operation.call(...args).catch((error: unknown) => {
        if (error instanceof BelfryError) {
          const declared: readonly ErrorCode[] = [...errors, ...errorsOfAll, ...errorsOfDoors]
          expect(declared, `${noun}.${verb} says nothing of: ${error.message}`).toContain(error.code)
        }
        throw error
      })
      // What other doors hand on is what JSON keeps, so that nothing in an answer may be lost by it.
      expect(JSON.parse(JSON.stringify(answer)), `${noun}.${verb}`).toEqual(answer)
      expect(output.parse(answer), `${noun}.${verb}`).toEqual(answer)
      return answer
    },
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
