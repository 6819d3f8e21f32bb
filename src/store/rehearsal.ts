import { BelfryError } from '../core/error.ts'
import type { Database } from './database-port.ts'
import type { EnqueueOptions, NewRun, Store } from './port.ts'
import { enqueue } from './runs/enqueue.ts'
import type { StoreContext } from './store-context.ts'

/** Some verbs of workers belong to effects outside the store, so they cannot be rehearsed. */
const ofWorkers = ['lease', 'renew', 'settle', 'reclaim', 'appendOutput', 'fireDue', 'beat', 'prune'] as const

/**
 * A store whose verbs run and are rolled back: a verb that can be rehearsed returns its answer, writes nothing and wakes no
 * sleeper. All other verbs are refused, because their answer might be wrong. An id in such an answer was free at that moment and
 * is not reserved. Reads are normal reads.
 */
export function rehearsalOf(store: Store, database: Database, context: StoreContext): Store {
  const rehearsal: Store = {
    ...refusals(),
    place: store.place,
    namespace: store.namespace,
    keepsOrder: store.keepsOrder,
    do: async (verb, ...args) => {
      if (verb.isReal === true) return store.do(verb, ...args)
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
    isRehearsal: true,
    close: () => store.close(),
  }
  return rehearsal
}

function refusals(): Pick<Store, (typeof ofWorkers)[number]> {
  const entries = ofWorkers.map((name) => [name, () => Promise.reject(unrehearsed(name))] as const)
  return Object.fromEntries(entries) as unknown as Pick<Store, (typeof ofWorkers)[number]>
}

function unrehearsed(name: string, hint = 'Call it without a rehearsal.'): BelfryError {
  return new BelfryError('invalid', `The step ${name} cannot be rehearsed; nothing was done.`, { hint })
}
