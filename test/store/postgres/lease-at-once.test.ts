import pg from 'pg'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '../../../src/store/database.ts'
import { lease, leasesOf, leaseTried } from '../../../src/store/lease.ts'
import { migrate } from '../../../src/store/migrate.ts'
import type { LeaseAnswer } from '../../../src/store/port.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { ahead, both, one, type Row, type Step } from '../../../src/store/statement.ts'
import { postgresUrl } from '../../postgres.ts'
import { numberOf, Scene, startAt } from '../scene.ts'

const clock = { now: startAt }
const schema = `at_once_${process.pid}`
const work = { target: { handler: 'a' }, payload: 1 }
let database: Database
let scene: Scene
let others: pg.Client

beforeAll(async () => {
  const source = { now: () => clock.now, monotonic: () => clock.now }
  database = await openPostgres(postgresUrl(), { schema, connectionsMax: 4, allowNonDurable: true, clock: source })
  await migrate(database)
  others = new pg.Client(postgresUrl())
  await others.connect()
})
afterAll(async () => {
  await others.query(`drop schema ${schema} cascade`)
  await others.end()
  await database.close()
})
beforeEach(async () => {
  scene = new Scene(database, clock, { knowsQueues: true })
  await scene.begin()
})

const asked = { queue: 'default', workerId: 'w-11', claimId: 'c', can: { kinds: ['handler'] }, limit: 10 }
const asking = (): Step<LeaseAnswer> => lease(scene.context, { ...asked, claimId: `c ${scene.context.ns}` })

/** Does something else right before the statement of this name. */
function* before<Result>(name: string, other: () => Step<unknown>, step: Step<Result>): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value && turn.value.statement.name === name) yield* other()
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

const settingNow = both('test setting', `select current_setting('synchronous_commit') as setting`)

/** Whether the commit of this step would wait for the disk. */
async function waitsForDisk(step: () => Step<unknown>): Promise<boolean> {
  await scene.write(asking)
  return database.rehearse(function* () {
    yield* step()
    return (yield* one(settingNow))?.setting === 'on'
  })
}

test('waits for the disk where it handed something out, and not where there was nothing', async () => {
  await scene.setQueue('default', {})
  expect(await waitsForDisk(asking)).toBe(false)
  await scene.enqueue(work)
  expect(
    await database.rehearse(function* () {
      yield* asking()
      return (yield* one(settingNow))?.setting
    }),
  ).toBe('on')
})

test('waits for it also where there was nothing, when the same transaction has taken something in', async () => {
  await scene.setQueue('default', {})
  const tried = both('test tried', `select set_config('belfry_step.locked_queue', id::text, true) from belfry.queue`)
  expect(
    await waitsForDisk(function* () {
      yield* leaseTried(scene.context, asked, yield* ahead(tried))
    }),
  ).toBe(true)
})

async function withUnreadable(): Promise<{ good: string; odd: string }> {
  const [good, odd] = [await scene.enqueue(work), await scene.enqueue(work)]
  await scene.sql('update belfry.run set payload = $2 where id = $1', numberOf(odd), '{')
  return { good, odd }
}

test('whose runs that cannot be read were not set apart has granted the others', async () => {
  const { good, odd } = await withUnreadable()
  const failing = before(
    'lease take unread',
    () => {
      throw new Error('The disk is full.')
    },
    asking(),
  )
  await expect(scene.write(() => failing)).rejects.toMatchObject({
    code: 'commit-unknown',
    message: /The disk is full/,
  })
  const granted = await scene.read((context) => leasesOf(context, `c ${context.ns}`))
  expect(granted.map(({ runId }) => runId)).toEqual([good])
  expect(await scene.show(odd)).toMatchObject({ status: 'leased' })
})

test('does not park a run whose cancellation was asked for meanwhile', async () => {
  const { odd } = await withUnreadable()
  const text = 'update belfry.lease set cancel_requested_at = 1 where run_id = $1'
  const cancelling = () => one(both('test cancel', text), numberOf(odd))
  const answer = await scene.write(() => before('lease take unread', cancelling, asking()))
  expect(answer.broken).toEqual([])
  expect(await scene.show(odd)).toMatchObject({ status: 'leased' })
})

test('does not wait for whoever is at the schedule of a run that cannot be read', async () => {
  const scheduleId = await scene.schedule()
  const odd = await scene.occurrence(scheduleId, startAt, work)
  await scene.sql('update belfry.run set payload = $2 where id = $1', numberOf(odd), '{')
  await others.query('begin')
  await others.query(`select 1 from ${schema}.schedule where id = $1 for update`, [scheduleId])
  expect((await scene.write(asking)).broken).toEqual([])
  await others.query('rollback')
  expect(await scene.show(odd)).toMatchObject({ status: 'leased' })
})
