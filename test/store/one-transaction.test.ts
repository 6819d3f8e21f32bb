import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/open-store.ts'
import { lease } from '../../src/store/leases/lease.ts'
import { settle } from '../../src/store/leases/settle.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { SqliteDatabase } from '../../src/store/sqlite/database.ts'
import { openHandle, type SqliteHandle } from '../../src/store/sqlite/driver.ts'
import { both, one, type Row, type Step } from '../../src/store/statement.ts'
import { postgresUrl } from '../postgres.ts'
import { actor, Scene, startAt } from './scene.ts'

const clock = { now: startAt }
const source = { now: () => clock.now, monotonic: () => clock.now }
let scene: Scene
let close: () => Promise<unknown>
let commitMark: () => Step<unknown>

/** Something that stays as it is for the length of a transaction, and for no longer. */
const transactionId = both('test transaction id', 'select pg_current_xact_id()::text as id')

/** A handle that counts how often something was committed on it. */
function counting(handle: SqliteHandle) {
  let commits = 0
  const counted = new Proxy(handle, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        if (name === 'exec' && given[0] === 'commit') commits++
        return value.apply(target, given)
      }
    },
  }) as SqliteHandle
  return { counted, commits: () => commits }
}

/** The same step, with the mark of its transaction taken before each statement and at its end. */
function* watched<Result>(step: Step<Result>, marks: unknown[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    const rows: Row[] = yield turn.value
    marks.push(yield* commitMark())
    turn = step.next(rows)
  }
  return turn.value
}

async function commitsWithin(verb: () => Step<unknown>): Promise<number> {
  const marks: unknown[] = []
  await scene.write(() => watched(verb(), marks))
  expect(marks.length).toBeGreaterThan(1)
  return new Set(marks).size - 1
}

const spec = { name: 'minutely', timing: { cron: '* * * * *', zone: 'UTC' }, target: { handler: 'h' } } as const
const request = { queue: 'default', workerId: 'w-11', claimId: 'c', can: { kinds: ['handler'], host: true }, limit: 9 }

async function openMemory() {
  const { counted, commits } = counting(openHandle(':memory:'))
  const database = new SqliteDatabase(counted, 'memory:', source)
  // biome-ignore lint/correctness/useYield: what it asks is no statement of the step.
  commitMark = function* () {
    return commits()
  }
  close = () => database.close()
  return database
}

async function openServer() {
  const options = { schema: 'one_transaction', connectionsMax: 2, allowNonDurable: true, clock: source }
  const database = await openPostgres(postgresUrl(), options)
  commitMark = function* () {
    return (yield* one(transactionId))?.id
  }
  close = () => database.close()
  return database
}

describe.each([
  ['SQLite', openMemory],
  ['PostgreSQL', openServer],
] as const)('a step is one transaction on %s, whatever it does:', (_name, open) => {
  beforeEach(async () => {
    const database = await open()
    await migrate(database, migrations)
    scene = new Scene(database, clock)
    await scene.begin()
  })
  afterEach(() => close())

  test('taking work in, counting and claiming it, and writing down how it ended', async () => {
    expect(await commitsWithin(() => enqueue(scene.context, [{}, { concurrencyKey: 'k' }]))).toBe(0)
    let held: Awaited<ReturnType<Scene['lease']>> = []
    const claim = function* () {
      held = (yield* lease(scene.context, request)).leases
    }
    expect(await commitsWithin(claim)).toBe(0)
    const ends = held.map(({ runId, fence }) => ({ runId, fence, outcome: { kind: 'success' } as const }))
    expect(ends).toHaveLength(2)
    expect(await commitsWithin(() => settle(scene.context, ends))).toBe(0)
  })

  test('making the run of an occurrence and moving its schedule on, and both again when the run ends', async () => {
    await scene.write((context) => putSchedule(context, spec, { mode: 'create', actor }))
    clock.now += 60_000
    expect(await commitsWithin(() => fireDue(scene.context, { limit: 10 }))).toBe(0)
    const [held] = await scene.lease()
    const { runId = '', fence = 0, scheduleId = null } = held ?? {}
    const end = { runId, fence, scheduleId, outcome: { kind: 'success' } as const }
    expect(await commitsWithin(() => settle(scene.context, [end]))).toBe(0)
  })
})
