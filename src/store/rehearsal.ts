import { BelfryError } from '../core/error.ts'
import type { Database } from './database-port.ts'
import type { EnqueueOptions, NewRun, Store } from './port.ts'
import { enqueue } from './runs/enqueue.ts'
import type { StoreContext } from './store-context.ts'

/** What a worker does is half of something that happens outside the store, so that none of it is rehearsed. */
const ofWorkers = ['lease', 'renew', 'settle', 'reclaim', 'appendOutput', 'fireDue', 'beat', 'prune'] as const

/**
 * A store on which a verb that can be rehearsed is done whole, and taken back: it answers what it would have answered, nothing of it stays,
 * and no sleeper is woken for it. All others are refused: a refusal is better than an answer that may be untrue. An id in such an answer was free
 * at that moment, and is not kept. What is read is what is there.
 */
export function rehearsalOf(store: Store, database: Database, context: StoreContext): Store {
  const rehearsal: Store = {
    ...refusals(),
    place: store.place,
    namespace: store.namespace,
    keepsOrder: store.keepsOrder,
    do: async (verb, ...args) => {
      if (verb.rehearses !== true) throw unrehearsed(verb.name)
      return database.rehearse(() => verb(context, ...args))
    },
    look: (read, ...args) => store.look(read, ...args),
    enqueue: async (runs: readonly NewRun[], { transaction }: EnqueueOptions = {}) => {
      if (transaction === undefined) return database.rehearse(() => enqueue(context, runs))
      throw unrehearsed('enqueue in a transaction of the caller’s own', 'Roll that transaction back instead.')
    },
    condition: () => store.condition(),
    damage: () => store.damage(),
    listen: (heard) => store.listen(heard),
    hears: () => store.hears(),
    wakeOthers: () => undefined,
    audited: () => rehearsal,
    rehearsal: () => rehearsal,
    close: () => store.close(),
  }
  return rehearsal
}

function refusals(): Pick<Store, (typeof ofWorkers)[number]> {
  const entries = ofWorkers.map((name) => [name, () => Promise.reject(unrehearsed(name))] as const)
  return Object.fromEntries(entries) as unknown as Pick<Store, (typeof ofWorkers)[number]>
}

function unrehearsed(name: string, hint = 'Ask without a rehearsal.'): BelfryError {
  return new BelfryError('invalid', `The step ${name} cannot be rehearsed; nothing was done.`, { hint })
}
