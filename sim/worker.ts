import { parseId } from '../src/core/id.ts'
import { Engine } from '../src/engine/engine.ts'
import { type EngineEvents, type EventName, Events } from '../src/engine/events.ts'
import { accounts } from '../src/parts/admission/accounts/part.ts'
import { budgets } from '../src/parts/admission/budgets/part.ts'
import { calendars } from '../src/parts/admission/calendars/part.ts'
import type { WorkerView } from '../src/store/views.ts'
import { handlerKind } from '../src/targets/handler/kind.ts'
import { Breach } from './invariants/breach.ts'
import { Process } from './process.ts'
import { targetOf } from './target.ts'
import type { World } from './world.ts'

export const handlerNames = ['first', 'second'] as const

/** Told only when something is broken that nothing in this world can break. */
const defects: readonly EventName[] = ['worker.failed', 'run.unsettled', 'schedule.broken', 'store.repaired']
const ends: readonly EventName[] = ['run.completed', 'run.failed', 'run.parked', 'run.cancelled']

/** A worker process: the real engine on this world's clocks, store and targets. */
export class Worker extends Process {
  readonly engine: Engine
  readonly slots: number | null
  /** What it has been told to do by whoever runs it. */
  /** When all became calm it was frozen, waited for an answer that takes long, or had begun to stop among the faults. */
  isHampered = false
  standing: 'starting' | 'running' | 'stopping' | 'stopped' = 'starting'

  constructor(world: World, name: string, { canAll }: { canAll: boolean }) {
    super(world, name)
    const target = targetOf(world, this)
    const names = canAll ? handlerNames : [world.random.pick(handlerNames)]
    this.slots = canAll && world.random.chance(0.5) ? null : world.random.between(1, 6)
    this.engine = new Engine({
      store: this.store,
      clock: this.clock,
      executors: new Map([
        [handlerKind.name, { kind: handlerKind, named: new Map(names.map((name) => [name, target])) }],
      ]),
      events: this.#events(world),
      coroner: { isDead: (view) => world.isProvenDead(view), endLeftovers: async () => 0 },
      settings: world.scenery.settings,
      parts: [...(world.hasAccounts ? [accounts] : []), ...(world.hasAdmission ? [calendars, budgets] : [])],
      name,
    })
  }

  start(world: World): void {
    world.history.count('event: worker starts')
    const options = this.slots === null ? {} : { slots: this.slots }
    this.engine.start(options).then(
      () => {
        this.standing = 'running'
        world.note(this, 'has started')
      },
      // A program whose store is away when it starts ends, and whoever runs it starts it again.
      () => world.crash(this, 'while it started'),
    )
  }

  /** Somebody tells it to stop; while it is frozen it does not hear that. */
  stop(world: World, graceMs: number): void {
    world.timeline.add(0, this, 'stop', () => this.#stop(world, graceMs))
  }

  #stop(world: World, graceMs: number): void {
    this.standing = 'stopping'
    // Whoever has to stop leaves behind what takes too long.
    this.troubledAt = Number.POSITIVE_INFINITY
    world.history.count('event: worker stops')
    const askedAt = world.timeline.now
    this.engine.stop({ graceMs }).then(
      () => {
        this.standing = 'stopped'
        world.note(this, `has stopped after ${world.timeline.now - askedAt} ms`)
        world.stopped(this)
      },
      (error: unknown) => world.broke(new Breach('a worker stops when it is told to', { error: String(error) })),
    )
  }

  #events(world: World): Events {
    const events = new Events()
    for (const name of defects) {
      events.on(name, (event: unknown) => {
        if (name === 'store.repaired' && world.mendsSetClock(event as EngineEvents['store.repaired'])) return
        world.broke(new Breach(`never told: ${name}`, { by: this.name, event: told(event) }))
      })
    }
    for (const name of ends) {
      events.on(name, (event: unknown) => world.endTold(this, name, event as EngineEvents['run.completed']))
    }
    events.on('run.lease-lost', (event) => world.lossTold(this, event))
    events.on('run.forgotten', (event) => world.forgottenTold(this, event))
    return events
  }
}

function told(event: unknown): unknown {
  const { error } = event as { error?: Error }
  return error === undefined ? event : { ...(event as object), error: error.stack ?? String(error) }
}

export function workerNumber({ id }: WorkerView): number {
  return parseId('worker', id) ?? 0
}
