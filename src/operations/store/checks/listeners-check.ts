import { formatDuration } from '../../../core/duration.ts'
import { type HealthCheck, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

/** Making a connection and hearing its own ping takes ms; whatever takes longer than this is not healthy. */
const waitMs = 5_000

export const listeners: HealthCheck = {
  check: 'listeners',
  says: 'Whether the wake-ups of other processes arrive. On PostgreSQL one connection listens and another one notifies it. Wrong when nothing arrived within 5 s.',
  unblocks:
    'Connect to PostgreSQL itself: a pooler that hands out connections by transaction, such as PgBouncer, delivers no notifications.',
  async look(inspection) {
    if (await hears(inspection)) return { says: 'The wake-ups of other processes arrive.' }
    const says = `No wake-up of another connection arrived within ${formatDuration(waitMs)}; until they do, workers look every second.`
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
    // It is called when hearing comes, and for whatever is heard then.
    const stopListening = store.listen(() => {
      if (store.hears()) answer(true)
    })
  })
}
