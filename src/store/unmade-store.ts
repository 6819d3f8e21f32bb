import { systemClock } from '../core/clock.ts'
import { shownStoreUrl } from '../core/store-url.ts'
import { bound } from './audit/audited.ts'
import { type OpenSettings, openStore } from './open-sql-store.ts'
import type { Store } from './port.ts'
import { enqueue } from './runs/enqueue.ts'
import type { Row, Step } from './statement.ts'
import type { StoreContext } from './store-context.ts'

/**
 * A store that its first write opens, and creates if it does not exist. Until then a read finds nothing. A verb that is refused before it
 * reads the database creates no store, so that a refused command leaves none behind.
 */
export function openLate(url: string, settings: OpenSettings): Store {
  const { namespace = 'default', defaultMaxConcurrent = 5, parts } = settings
  const context: StoreContext = { ns: 0, namespace, defaultMaxConcurrent, policies: null, parts }
  let making: Promise<Store> | null = null
  let made: Store | null = null
  const written = async () => {
    making ??= openStore(url, settings)
    made = await making
    return made
  }
  const seenAs = (view: (own: Store) => Store): Store => {
    const before: Partial<Store> = {
      place: shownStoreUrl(url).replace(/^sqlite:/, ''),
      namespace,
      look: async (read, ...args) => onNothing(read(context, ...args)),
      do: async (verb, ...args) => {
        verb(context, ...args).next()
        return view(await written()).do(verb, ...args)
      },
      enqueue: async (runs, options) => {
        enqueue(context, runs).next()
        return view(await written()).enqueue(runs, options)
      },
      audited: (entry) => seenAs((own) => view(own).audited(entry)),
      close: async () => (await making)?.close(),
    }
    return new Proxy({} as Store, {
      get: (_, name) => (made === null ? before[name as keyof Store] : bound(view(made), name)),
    })
  }
  return seenAs((own) => own)
}

/** What a read answers where no table has a row. */
function onNothing<Result>(step: Step<Result>): Result {
  let next = step.next()
  while (next.done !== true) {
    const rows: Row[] = next.value.kind === 'now' ? [{ now: systemClock.now() }] : []
    next = step.next(rows)
  }
  return next.value
}
