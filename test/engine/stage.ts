import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { type Coroner, Engine, type EngineSettings } from '../../src/engine/engine.ts'
import { type EngineEvents, type EventName, Events } from '../../src/engine/events.ts'
import type { Executor } from '../../src/engine/execute-run.ts'
import type { HaltOptions } from '../../src/engine/halt.ts'
import { turnOfTheEventLoop } from '../../src/engine/loop.ts'
import type { EnginePart } from '../../src/engine/part.ts'
import type { Signal, SignalName } from '../../src/engine/signals.ts'
import { kinds } from '../../src/kinds.ts'
import { lines } from '../../src/library/log.ts'
import { openStore } from '../../src/open-store.ts'
import type { Actor, NewRun, Store } from '../../src/store/port.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import type { Attempt, Ended, Execute } from '../../src/targets/attempt.ts'
import { handlerKind } from '../../src/targets/handler/kind.ts'
import { TestClock } from '../../src/testing/test-clock.ts'
import { postgresUrl } from '../postgres.ts'

export const actor: Actor = { name: 'tester', door: 'test' }
export const fine: Ended = { facts: {} }

const leftOpen: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of leftOpen.splice(0).reverse()) await close()
})

export interface StageOptions {
  /** `memory:`, `sqlite` for a new file, `postgres` for a new schema; or a store that is wrapped or shared. */
  readonly place?: 'memory:' | 'sqlite' | 'postgres'
  readonly store?: Store
  readonly clock?: Clock
  readonly settings?: Partial<EngineSettings>
  readonly coroner?: Partial<Coroner>
  readonly maxConcurrent?: number
  readonly parts?: readonly EnginePart[]
  readonly halt?: HaltOptions
}

function kindNamed(name: string): Executor['kind'] {
  return kinds.find((kind) => kind.name === name) ?? {}
}

/** A store, and a worker on it whose every word is written down. */
export class Stage {
  readonly store: Store
  readonly clock: Clock
  readonly engine: Engine
  readonly events = new Events()
  readonly handlers = new Map<string, Execute>()
  readonly executors = new Map<string, Executor>([['handler', { kind: handlerKind, named: this.handlers }]])
  /** Executes targets of other kinds. */
  readonly kinds = {
    set: (name: string, execute: Execute, kind: Executor['kind'] = kindNamed(name)) =>
      this.executors.set(name, { kind, execute }),
  }
  readonly told: { name: EventName; event: unknown }[] = []
  readonly #waiting = new Set<() => void>()
  readonly #signals: SignalName[] = []

  constructor(store: Store, { clock = systemClock, settings, coroner, parts = [], halt = {} }: StageOptions) {
    this.store = store
    this.clock = clock
    for (const name of eventNames) {
      this.events.on(name, (event: unknown) => {
        this.told.push({ name, event })
        this.#look()
      })
    }
    this.engine = new Engine({
      store,
      clock,
      events: this.events,
      executors: this.executors,
      coroner: { isDead: () => false, endLeftovers: async () => 0, ...coroner },
      signal: this.#signal,
      parts,
      halt,
      settings: { leaveAfterMs: 200, ...settings },
    })
  }

  readonly #signal: Signal = (name) => {
    this.#signals.push(name)
    this.#look()
  }

  handle(name: string, run: (attempt: Attempt) => unknown): this {
    this.handlers.set(name, async (attempt) => {
      const result = await run(attempt)
      return { facts: { json: result }, result }
    })
    return this
  }

  async enqueue(run: NewRun): Promise<string> {
    const [answer] = await this.store.enqueue([run])
    return answer?.id as string
  }

  of<Name extends EventName>(name: Name): EngineEvents[Name][] {
    return this.told.filter((one) => one.name === name).map(({ event }) => event as EngineEvents[Name])
  }

  /** Waits until so many of these were told, and answers the last of them. */
  async until<Name extends EventName>(name: Name, count = 1): Promise<EngineEvents[Name]> {
    await this.when(() => this.of(name).length >= count)
    return this.of(name)[count - 1] as EngineEvents[Name]
  }

  /** Waits for a signal that has not been given yet. */
  async next(name: SignalName): Promise<void> {
    const from = this.#signals.length
    await this.when(() => this.#signals.slice(from).includes(name))
  }

  /** Waits until something holds; it is looked at whenever the engine says something. */
  async when(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve)
      })
    }
  }

  #look(): void {
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }
}

export async function stage(options: StageOptions = {}): Promise<Stage> {
  const store = options.store ?? (await openPlace(options))
  if (options.maxConcurrent !== undefined) {
    await store.do(setQueue, 'default', { policy: { maxConcurrent: options.maxConcurrent }, actor })
  }
  const made = new Stage(store, options)
  leftOpen.push(async () => {
    await stopNow(made)
    if (options.store === undefined) await store.close()
  })
  return made
}

/** A clock that stands still would leave a handler that does not stop no time to be left behind. */
async function stopNow({ engine, clock }: Stage): Promise<void> {
  let isOver = false
  const stopping = engine.stop({ graceMs: 0 }).finally(() => {
    isOver = true
  })
  while (clock instanceof TestClock && !isOver) {
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await stopping
}

export async function openPlace({ place = 'memory:', clock }: StageOptions = {}): Promise<Store> {
  const dials = clock === undefined || clock === systemClock ? {} : { clock }
  if (place === 'memory:') return openStore('memory:', dials)
  if (place === 'postgres')
    return openStore(postgresUrl(), { ...dials, schema: `e${randomUUID().replaceAll('-', '')}` })
  const folder = mkdtempSync(join(tmpdir(), 'belfry-engine-'))
  leftOpen.push(async () => rmSync(folder, { recursive: true, force: true }))
  return openStore(`sqlite:${join(folder, 'belfry.db')}`, dials)
}

/** Everybody has many turns; with a clock that stands still, nothing is under way after that. */
export async function settleDown(turns = 30): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await turnOfTheEventLoop()
}

/** A clock that knows how many alarms are set. */
export class CountingClock extends TestClock {
  alarms = 0

  override after(ms: number, act: () => void): () => void {
    let isSet = true
    const clear = () => {
      if (isSet) this.alarms--
      isSet = false
    }
    this.alarms++
    const cancel = super.after(ms, () => {
      clear()
      act()
    })
    return () => {
      clear()
      cancel()
    }
  }
}

/** Time passes in small steps, and everybody has a turn after each. */
export async function pass(clock: TestClock, ms: number, stepMs = 500): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    clock.advance(Math.min(stepMs, left))
    await settleDown(5)
  }
}

/** A promise that is settled from outside. */
export function deferred<Value = void>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Resolves when the attempt is told to stop. */
export function stopped({ signal }: Attempt): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const eventNames = Object.keys(lines) as EventName[]
