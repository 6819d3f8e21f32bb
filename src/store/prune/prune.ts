import { checkInteger, invalid } from '../check.ts'
import { clockNow, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { Pruned, PruneRequest } from './pruning.ts'
import { keptQueues, type Sweep } from './sweep.ts'
import { sweepEnded } from './sweep-ended.ts'
import { sweepLeftovers } from './sweep-leftovers.ts'
import { sweepParked } from './sweep-parked.ts'
import { sweepSchedules } from './sweep-schedules.ts'
import { sweepSurplus } from './sweep-surplus.ts'

/** The sweeps in the order of a round. */
const sweeps = {
  parked: sweepParked,
  ended: sweepEnded,
  surplus: sweepSurplus,
  schedules: sweepSchedules,
  leftovers: sweepLeftovers,
} as const satisfies Record<string, Sweep>

type SweepName = keyof typeof sweeps
const order = Object.keys(sweeps) as SweepName[]
const limitMax = 100_000

/**
 * Removes what retention no longer keeps, in one small step of a round, and returns where the round continues. Live and parked
 * work stays, except parked runs of queues that limit how long they are kept.
 */
export function* prune(context: StoreContext, { limit, from }: PruneRequest): Step<Pruned> {
  checkInteger(limit, 'limit', 1, limitMax)
  let { name, place } = from === undefined ? { name: order[0], place: null } : placeIn(from)
  const now = yield* clockNow()
  const queues = yield* keptQueues(context)
  const pruned = { runs: 0, ledger: 0, other: 0 }
  for (let rowsLeft = limit; name !== undefined && rowsLeft > 0; ) {
    const swept = yield* sweeps[name]({ context, now, queues, rowsLeft }, place)
    pruned.runs += swept.runs
    pruned.ledger += swept.ledger
    pruned.other += swept.other
    if (swept.next !== null) return { ...pruned, next: JSON.stringify([name, swept.next]) }
    rowsLeft -= swept.rows
    name = order[order.indexOf(name) + 1]
    place = null
  }
  return { ...pruned, next: name === undefined ? null : JSON.stringify([name, null]) }
}

function placeIn(from: string): { name: SweepName | undefined; place: string | null } {
  try {
    const [name, place] = JSON.parse(from) as [SweepName, string | null]
    if (order.includes(name) && (place === null || typeof place === 'string')) return { name, place }
  } catch {
    // An unknown name falls through to the refusal of a bad `from`.
  }
  throw invalid('from', `is ${JSON.stringify(from)}`, 'the `next` of the step before')
}
