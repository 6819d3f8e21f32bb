import { reservationsSoFar } from '../account-use.ts'
import type { Fault } from '../fault.ts'
import { type RaceSize, raceFor } from '../race.ts'
import { accountName } from '../workload.ts'

/** Many workers race for the few slots of one account, over two queues. */
export function oneAccount(size: RaceSize): Fault {
  const account = { target: { handler: 'work' }, options: { account: [accountName] } }
  return raceFor(
    {
      id: 'F30',
      title: 'one account among many workers, kill -9',
      run: (index) => ({ ...account, queue: index % 2 === 0 ? 'work' : 'keyed', payload: { ms: index % 3 } }),
      soFar: reservationsSoFar,
    },
    size,
  )
}
