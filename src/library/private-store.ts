import type { Clock } from '../core/clock.ts'
import { Engine, type HaltOptions } from '../engine/engine.ts'
import { Events } from '../engine/events.ts'
import { openStore } from '../open-store.ts'
import { onlyGiven } from '../operations/fields/only-given.ts'
import type { PrivateStore } from '../operations/operation-context.ts'
import { Waits } from '../operations/run/waits.ts'
import { parts } from '../parts.ts'

interface Around {
  readonly clock: Clock
  /** The program's own clock, where it has one. */
  readonly injected?: Clock | undefined
  readonly halt: HaltOptions
}

/**
 * Opens a store in memory that only this process knows, and that ends with it. A worker without executors fires its due
 * schedules; the stop file of the machine applies to this worker too.
 */
export async function openPrivate({ clock, injected, halt }: Around): Promise<PrivateStore> {
  const store = await openStore('memory:', onlyGiven({ clock: injected }))
  const events = new Events()
  const waits = new Waits({ store, clock, events })
  // Nothing is executed here, so no process of a dead worker is left.
  const coroner = { isDead: () => false, endLeftovers: async () => undefined }
  const engine = new Engine({ store, clock, executors: new Map(), events, coroner, parts, halt })
  await engine.start()
  return {
    store,
    waits,
    async close() {
      await engine.stop({ graceMs: 0 })
      waits.close()
      await store.close()
    },
  }
}
