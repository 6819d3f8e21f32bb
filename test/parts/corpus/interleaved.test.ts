import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { migrations } from '../../../src/open-store.ts'
import { editItem } from '../../../src/parts/corpus/items/edit-item.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { lendSchema, returnSchema } from '../../lent-schema.ts'
import { postgresUrl } from '../../postgres.ts'
import { Scene, startAt } from '../../store/scene.ts'
import { begun } from './begun.ts'

const waiting = `select 1 from pg_locks where not granted and relation is not null
  union all select 1 from pg_stat_activity where wait_event_type = 'Lock' and pid <> pg_backend_pid() and query like '%' || $1 || '%'`

it('an edit that is being written on PostgreSQL keeps a phase from being committed over it, and neither is lost', async () => {
  const schema = lendSchema()
  const clock = { now: startAt }
  const source = { now: () => clock.now, monotonic: () => clock.now }
  const database = await openPostgres(postgresUrl(), {
    schema,
    connectionsMax: 4,
    allowNonDurable: true,
    clock: source,
  })
  await migrate(database, migrations)
  const typed = { getTypeParser: (oid: number) => (oid === 20 ? Number : pg.types.getTypeParser(oid, 'text')) }
  const [editor, looker] = [typed, undefined].map(
    (types) => new pg.Client({ connectionString: postgresUrl(), types }),
  ) as [pg.Client, pg.Client]
  await Promise.all([editor.connect(), looker.connect()])
  onTestFinished(async () => {
    await Promise.all([editor.end(), looker.end(), database.close()])
    await returnSchema(schema)
  })
  const scene = new Scene(database, clock)
  await scene.begin()
  const { end, document, item } = await begun(scene)
  await editor.query('begin')
  await database.within(editor, () => editItem(scene.context, 'c', 'a', { fields: { _steer: 'mine' } }))
  let isDone = false
  const settled = scene
    .write((context) => settle(context, [end]))
    .finally(() => {
      isDone = true
    })
  while (!isDone && (await looker.query(waiting, [schema])).rows.length === 0) await Promise.resolve()
  // The edit is not committed yet, so the phase must not have written: it would not know of the edit.
  expect([isDone, document()]).toEqual([false, expect.not.objectContaining({ _builder: 'the plan' })])
  await editor.query('commit')
  expect((await settled)[0]).toMatchObject({ answer: 'written', status: 'completed' })
  expect(document()).toMatchObject({ _steer: 'mine', _builder: 'the plan', _revision: 2 })
  expect(await item()).toMatchObject({ revision: 2, runId: null })
})
