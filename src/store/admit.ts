import { type Gate, regate } from './gate.ts'
import { type Aside, putInLine, type Standing, setAside } from './standing.ts'
import type { Step } from './statement.ts'

/** A live run that is to take its place. */
export interface Arrival {
  readonly standing: Standing
  /** The earliest instant it may go, and why; `null` when it may go at once. */
  readonly eligible: { readonly at: number; readonly reason: string } | null
  /** It must wait for a run of its schedule, or for its schedule's resumption. */
  readonly kept: 'overlap' | 'held' | null
  /** The ceiling of its key, if it has a key and the queue such a ceiling. */
  readonly keyLimit: number | null
}

/**
 * The one rule of where a live run stands: held by a pause, behind a run of its schedule, waiting for its instant, behind
 * its key's gate, or in line. Every step that makes, returns or frees a run ends here.
 */
export function* admit(now: number, arrivals: readonly Arrival[]): Step<void> {
  const inLine: Standing[] = []
  const aside: Aside[] = []
  const gates = new Map<string, Gate>()
  for (const { standing, eligible, kept, keyLimit } of arrivals) {
    const at = eligible?.at ?? standing.enqueuedAt
    if (kept !== null) aside.push({ standing, kind: kept, at, reason: eligible?.reason ?? null })
    else if (eligible !== null && eligible.at > now)
      aside.push({ standing, kind: 'waiting', at, reason: eligible.reason })
    else if (standing.key !== null && keyLimit !== null) {
      aside.push({ standing, kind: 'key', at, reason: standing.key })
      gates.set(gateName(standing), { ns: standing.ns, queueId: standing.queueId, key: standing.key, limit: keyLimit })
    } else inLine.push(standing)
  }
  yield* putInLine(inLine)
  yield* setAside(aside)
  yield* regateAll(gates)
}

/** Gates are locked in one order by everybody, so that nobody waits in a circle. */
export function* regateAll(gates: ReadonlyMap<string, Gate>): Step<void> {
  for (const [, gate] of [...gates].sort(([a], [b]) => (a < b ? -1 : 1))) yield* regate(gate)
}

export function gateName({ queueId, key }: { queueId: number; key: string | null }): string {
  return `${queueId} ${key}`
}
