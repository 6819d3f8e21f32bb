import { describe, expect, it } from 'vitest'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { actor, hour, onEachStore } from '../../store/schedule-stage.ts'
import { http, words } from './stage.ts'

describe('a notice of another namespace', () => {
  onEachStore('whose lease somebody takes back', (stage) => {
    it('goes where that namespace says, into its own queue', async () => {
      const { store } = stage()
      await store.do(setNotify, { onPark: http('ours') }, { actor })
      await stage().sql(`insert into belfry.namespace (id, name, created_at, notify)
        values (777, 'theirs', 0, '{"onPark":{"http":{"url":"https://example.org/theirs"}}}')`)
      await store.enqueue([{ target: { handler: 'work' }, repeatable: false }])
      await stage().leaseOne()
      for (const table of ['queue', 'need', 'run', 'lease']) await stage().sql(`update belfry.${table} set ns = 777`)
      stage().pass(10 * hour)
      await store.reclaim({ limit: 10 })
      expect(await words(stage())).toEqual([])
      const rows = await stage().sql(`select d.target from belfry.run d join belfry.queue q on q.id = d.queue_id
        where d.ns = 777 and q.ns = 777 and q.name = 'notices'`)
      expect(rows).toEqual([{ target: '{"http":{"url":"https://example.org/theirs"}}' }])
    })
  })
})
