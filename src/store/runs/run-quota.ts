import { BelfryError } from '../../core/error.ts'
import type { Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RunRow } from './run-row.ts'

/** How many occurrences may still become runs, and the outcome of the others. */
export interface RunRoom {
  left: number
  readonly outcome: string
  /** When there is room again. */
  readonly until: number
}

/**
 * A part that counts the runs of a namespace. It is called only if the row of the namespace says so (`counts`), so that a namespace
 * without a quota pays nothing for it.
 */
export interface RunQuota {
  /** How many runs may be made. Its locks are kept until the step ends. */
  left(context: StoreContext, now: number): Step<RunRoom | null>
  /** Counts runs that were made. If they are too many, returns why. */
  made(context: StoreContext, now: number, runs: number): Step<BelfryError | null>
}

/** Whether the runs of a namespace are counted: one probe of a small table. */
export function countsRuns(ns: string): string {
  return `(select m.counts from belfry.namespace m where m.id = ${ns})`
}

/** The room of namespaces whose runs are counted. */
export function* roomsOf(context: StoreContext, namespaces: Iterable<number>, now: number): Step<Map<number, RunRoom>> {
  const rooms = new Map<number, RunRoom>()
  // In a fixed order, because each namespace is locked.
  for (const ns of [...new Set(namespaces)].sort((a, b) => a - b)) {
    for (const { quota } of context.parts) {
      const room = quota === undefined ? null : yield* quota.left({ ...context, ns }, now)
      if (room !== null) rooms.set(ns, room)
    }
  }
  return rooms
}

/** What happens to runs that are too many: `refused` throws. */
export type OverQuota = 'refused' | 'made'

export function* countRuns(
  context: StoreContext,
  now: number,
  runs: readonly Pick<RunRow, 'ns'>[],
  over: OverQuota,
): Step<void> {
  for (const ns of new Set(runs.map((run) => run.ns))) {
    const count = runs.filter((run) => run.ns === ns).length
    for (const { quota } of context.parts) {
      const refusal = quota === undefined ? null : yield* quota.made({ ...context, ns }, now, count)
      if (refusal instanceof BelfryError && over === 'refused') throw refusal
    }
  }
}
