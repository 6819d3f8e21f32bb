import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openStore } from '../../../src/open-store.ts'
import { applyConfig } from '../../../src/parts/config/apply-config.ts'
import type { Store } from '../../../src/store/port.ts'
import { actor, hourly } from '../../store/schedule-stage.ts'

const schema = 'config_locks'
let store: Store
let other: pg.Client

beforeEach(async () => {
  store = await openStore(inject('postgresUrl'), { schema, allowNonDurable: true })
  other = new pg.Client({ connectionString: inject('postgresUrl') })
  await other.connect()
})
afterEach(async () => {
  await other.query('rollback')
  await store.close()
  await other.query(`drop schema ${schema} cascade`)
  await other.end()
})

const schedules = [{ name: 'a', timing: hourly, target: { handler: 'x' } }]
const apply = (hash: string, queues: { name: string; policy: object }[]) =>
  store.do(applyConfig, { source: 'ops', hash, file: 'f', queues, schedules, tokens: [] }, { actor })

describe('a file that no longer names a queue', () => {
  it('waits for it before it locks a schedule, as everybody does who locks both', async () => {
    await apply('one', [{ name: 'mail', policy: {} }])
    await other.query('begin')
    await other.query(`select 1 from ${schema}.queue where name = 'mail' for no key update`)
    const applied = apply('two', [])
    const waiting = `select 1 from pg_stat_activity where wait_event_type = 'Lock' and query like '%${schema}%'`
    const looker = new pg.Client({ connectionString: inject('postgresUrl') })
    await looker.connect()
    await expect.poll(async () => (await looker.query(waiting)).rowCount, { timeout: 10_000 }).toBe(1)
    await looker.end()
    const lock = other.query(`select 1 from ${schema}.schedule where name = 'a' for no key update nowait`)
    await expect(lock).resolves.toMatchObject({ rowCount: 1 })
    await other.query('rollback')
    expect((await applied).queues).toMatchObject([{ name: 'mail', answer: 'left' }])
  })
})
