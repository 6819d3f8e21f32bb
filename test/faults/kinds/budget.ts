import { placeBudget, settledSoFar } from '../budget-use.ts'
import type { Fault } from '../fault.ts'
import { type RaceSize, raceFor } from '../race.ts'

const queue = 'work'

/** Many workers reserve of one budget, and settle what they used. */
export function oneBudget(size: RaceSize): Fault {
  return raceFor(
    {
      id: 'F31',
      title: 'one budget among many workers, kill -9',
      place: (store) => placeBudget(store, queue),
      run: (index) => ({ queue, target: { handler: 'work' }, payload: { ms: index % 20, tokens: 0 } }),
      soFar: settledSoFar,
    },
    size,
  )
}
