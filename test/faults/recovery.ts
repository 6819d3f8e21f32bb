import { nameOf } from './check.ts'
import type { Closure, History, Interruption } from './history.ts'

/** How long the runs of an interruption took to come back, less what nobody could have shortened. */
export interface Recovery {
  /** The last of its runs. */
  readonly ms: number
  /** Without taking anything off. */
  readonly wholeMs: number
}

/**
 * Of each interruption that met somebody at work: how long after it the last of the runs held then was at work again, by
 * the witness, less the lease that had to expire first, and less the time in which nobody could write because somebody had
 * been stopped inside a write. What must not repeat does not come back; what came to its end
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
        const freeAt = Math.max(at, expiresAt)
        const closedMs = overlapMs(history.closures, { from: freeAt, to: startedAt })
        return [{ wholeMs: startedAt - at, ms: Math.max(0, startedAt - freeAt - closedMs) }]
      })
      if (back.length === 0) return []
      return [{ ms: Math.max(...back.map(({ ms }) => ms)), wholeMs: Math.max(...back.map(({ wholeMs }) => wholeMs)) }]
    })
}

/** There is one writer at a time, so no two closures overlap. */
function overlapMs(closures: readonly Closure[], { from, to }: Closure): number {
  return closures.reduce((ms, closure) => ms + Math.max(0, Math.min(to, closure.to) - Math.max(from, closure.from)), 0)
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
