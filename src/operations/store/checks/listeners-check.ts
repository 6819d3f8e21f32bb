import { formatDuration } from '../../../core/duration.ts'
import { type HealthCheck, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

/** A connection and its own ping take a few ms; longer than this is not healthy. */
const waitMs = 5_000

export const listeners: HealthCheck = {
  check: 'listeners',
  says: 'Whether wake-ups from other processes arrive. On PostgreSQL one connection listens and another notifies it. Wrong: no notification arrived within 5 s.',
  unblocks:
    'Connect to PostgreSQL directly: a pooler in transaction mode, such as PgBouncer, delivers no notifications.',
  async look(inspection) {
    if (await hears(inspection)) return { says: 'Wake-ups from other processes arrive.' }
    const says = `No wake-up from another connection arrived within ${formatDuration(waitMs)}; until they arrive, workers poll every second.`
    return { says, findings: [wrong('LISTEN', says, listeners.unblocks)] }
  },
}

async function hears({ context: { clock }, store }: Inspection): Promise<boolean> {
  if (store.hears()) return true
  return new Promise<boolean>((resolve) => {
    const answer = (hears: boolean) => {
      stopListening()
      takeBack()
      resolve(hears)
    }
    const takeBack = clock.after(waitMs, () => answer(store.hears()))
    // Called once when listening starts, and for every notification.
    const stopListening = store.listen(() => {
      if (store.hears()) answer(true)
    })
  })
}
