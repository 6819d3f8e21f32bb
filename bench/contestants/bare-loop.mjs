import { openPostgres } from '../../scripts/shapes/postgres.mjs'
import { openSqlite } from '../../scripts/shapes/sqlite.mjs'

/**
 * What a person would write by hand for this one purpose: lease a batch, do it, settle it, and nothing else. The ceiling
 * is checked in the claiming transaction, fences are checked at the end, and one row an attempt is kept, as Belfry does.
 */
export async function open(place, setting) {
  const store = place.url === undefined ? openSqlite('lines') : await openPostgres('lines', place.url)
  let working = Promise.resolve()
  const loop = async ({ began, ended }, client) => {
    for (;;) {
      const leases = await store.lease(setting.batch, Date.now(), client)
      if (leases.length === 0) return
      for (const lease of leases) began(lease)
      await store.settle(leases, Date.now(), client)
      ended(leases.length)
    }
  }
  return {
    async fill(count) {
      for (let from = 0; from < count; from += 1_000) {
        const ids = Array.from({ length: Math.min(1_000, count - from) }, (_, index) => from + index + 1)
        await store.enqueue(ids, Date.now())
      }
    },
    async start(heard) {
      working = Promise.all(Array.from({ length: setting.connections }, (_, client) => loop(heard, client)))
    },
    settled: () => undefined,
    async close() {
      await working
      await store.close()
    },
  }
}
