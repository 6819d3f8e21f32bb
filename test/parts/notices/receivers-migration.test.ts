import { expect, it } from 'vitest'
import { migrations } from '../../../src/open-store.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { openSqliteMemory } from '../../../src/store/sqlite/open.ts'
import { all, both, type Param } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'

const clock = { now: () => 1, monotonic: () => 1 }
const postgres = { schema: 'receivers migration', connectionsMax: 2, allowNonDurable: true, clock }
const insertSchedule = `insert into belfry.schedule
  (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at, timed_at, created_at, updated_at)
  values ($1, 1, $2, $3, 1, 1, '{}', 0, 0, 0, 0, 0)`
const insertVersion = `insert into belfry.schedule_version (ns, schedule_id, version, spec, at, actor)
  values (1, $1, 1, $2, 0, 'somebody')`
const insertPolicy = `insert into belfry.queue_version (ns, queue_id, version, policy, at, actor) values (1, $1, $2, $3, 0, 'somebody')`
const insertQueue = `insert into belfry.queue (id, ns, name, policy, policy_version, created_at, notify)
  values ($1, 1, $2, $3, 1, 0, $4)`

it.each([
  ['SQLite', async () => openSqliteMemory(clock)],
  ['PostgreSQL', () => openPostgres(postgresUrl(), postgres)],
] as const)('receivers of a store from before are fields of its schedules and policies (%s)', async (_, open) => {
  const database = await open()
  let statements = 0
  const sql = (text: string, ...params: Param[]) =>
    database.write(() => all(both(`test migration ${++statements}`, text), ...params))
  await migrate(database, migrations.slice(0, 16))
  // What JSON can say and jsonb cannot is kept as it is, and so is a null inside a body.
  const onFailure = { http: { url: 'https://example.org/', body: { none: null, text: 'a\0b \ud800' } } }
  const onPark = { command: ['page'] }
  const payload = { notify: 'as a word of its own' }
  const told = { name: 'told', timing: {}, payload, notify: { onFailure, onPark }, queue: 'mail' }
  await sql(insertSchedule, 1, 'told', JSON.stringify(told))
  await sql(insertSchedule, 2, 'silent', JSON.stringify({ name: 'silent', timing: {}, payload }))
  await sql(insertSchedule, 3, 'damaged', '{"notify":{"onFailure"')
  await sql(insertVersion, 1, JSON.stringify(told))
  await sql(insertQueue, 1, 'mail', '{"maxConcurrent":5}', JSON.stringify({ onPark }))
  await sql(insertPolicy, 1, 0, '{"maxConcurrent":4}')
  await sql(insertPolicy, 1, 1, '{"maxConcurrent":5}')
  await sql(insertQueue, 2, 'damaged', '{"maxConcurrent":5}', '{"onPark":')
  await sql(insertQueue, 3, 'silent', '{"maxConcurrent":5}', null)

  await migrate(database, migrations.slice(0, 17))
  const specs = await sql('select name, spec from belfry.schedule order by id')
  const moved = { name: 'told', timing: {}, payload, queue: 'mail', onFailure, onPark }
  expect(JSON.parse(specs[0]?.spec as string)).toEqual(moved)
  expect(specs.slice(1)).toEqual([
    { name: 'silent', spec: JSON.stringify({ name: 'silent', timing: {}, payload }) },
    { name: 'damaged', spec: '{"notify":{"onFailure"' },
  ])
  const [version] = await sql('select spec from belfry.schedule_version')
  expect(JSON.parse(version?.spec as string)).toEqual(moved)
  const queues = await sql('select name, policy, notify from belfry.queue order by id')
  expect(queues.map(({ name, policy, notify }) => [name, JSON.parse(policy as string), notify])).toEqual([
    ['mail', { maxConcurrent: 5, onPark }, null],
    ['damaged', { maxConcurrent: 5 }, '{"onPark":'],
    ['silent', { maxConcurrent: 5 }, null],
  ])
  const policies = await sql('select policy from belfry.queue_version order by version')
  expect(policies.map(({ policy }) => JSON.parse(policy as string))).toEqual([
    { maxConcurrent: 4 },
    { maxConcurrent: 5, onPark },
  ])
  await database.close()
})
