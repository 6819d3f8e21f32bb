import type { NextInstants } from '../store/port.ts'
import { nextInstants } from '../store/reads/next-instants.ts'
import type { ClockWatch } from './clock-watch.ts'
import type { EngineContext } from './engine-context.ts'

/** Reads the next instants, and checks the clock by which they were read. */
export async function readInstants(
  { store, clock, events }: EngineContext,
  watch: ClockWatch,
  jumped: () => void,
): Promise<NextInstants & { readonly behindMs: number }> {
  const before = clock.monotonic()
  const instants = await store.look(nextInstants)
  const { jumpedMs, behindMs } = watch.look({ now: instants.now, before, after: clock.monotonic() })
  if (jumpedMs !== 0) {
    events.tell('clock.jumped', { byMs: jumpedMs })
    jumped()
  }
  return { ...instants, behindMs }
}
