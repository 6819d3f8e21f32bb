import { nameOf } from './check.ts'
import type { History, Interruption } from './history.ts'

/** How long the runs of an interruption took to come back, less what was left of their leases. */
export interface Recovery {
  /** The last of its runs. */
  readonly ms: number
  /** Without taking off what was left of the leases. */
  readonly wholeMs: number
}

/**
 * Of each interruption that met somebody at work: how long after it the last of the runs held then was at work again, by
 * the witness, less the lease that had to expire first. What must not repeat does not come back; what came to its end
 * under the old lease never was away; and a run whose next holder was struck down before it began is that holder's.
 */
export function recoveries(history: History, kind: Interruption['kind']): Recovery[] {
  const runs = new Map(history.runs.map((run) => [run.id, run]))
  const starts = new Map(history.witnessed.starts.map((effect) => [nameOf(effect), effect.at]))
  return history.interruptions
    .filter((interruption) => interruption.kind === kind)
    .flatMap(({ at, held }) => {
      const back = held.flatMap(({ runId, fence, expiresAt }) => {
        const run = runs.get(runId)
        const isLost = run?.attempts.some((attempt) => attempt.fence === fence && attempt.outcome === 'lost')
        const startedAt = starts.get(nameOf({ runId, fence: fence + 1 }))
        if (run?.repeatable === false || isLost !== true || startedAt === undefined) return []
        return [{ wholeMs: startedAt - at, ms: Math.max(0, startedAt - Math.max(at, expiresAt)) }]
      })
      if (back.length === 0) return []
      return [{ ms: Math.max(...back.map(({ ms }) => ms)), wholeMs: Math.max(...back.map(({ wholeMs }) => wholeMs)) }]
    })
}

export interface Spread {
  readonly count: number
  readonly p50: number
  readonly p99: number
  readonly max: number
}

export function spreadOf(numbers: readonly number[]): Spread | null {
  if (numbers.length === 0) return null
  const sorted = numbers.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 }
}
