import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest'
import { openStore } from '../../src/open-store.ts'
import type { Store } from '../../src/store/port.ts'
import { findQueue } from '../../src/store/reads/find-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { findSchedule, listLedger, listSchedules } from '../../src/store/reads/find-schedule.ts'
import { listWorkers } from '../../src/store/reads/list-workers.ts'
import { retryRun } from '../../src/store/runs/retry-run.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { columnsOf, type TableName, tables } from '../../src/store/tables.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'
import { actor, hour, startAt } from './schedule-stage.ts'

/** A store of this version, and a connection that is not its own. */
interface Shared {
  readonly store: Store
  readonly clock: { now: number }
  alter(table: string, change: string): Promise<void>
  columns(table: string): Promise<string[]>
  close(): Promise<void>
}

const open = { sqlite: openFile, postgres: openSchema }

async function openFile(): Promise<Shared> {
  const folder = mkdtempSync(join(tmpdir(), 'belfry-columns-'))
  const file = join(folder, 'belfry.db')
  const clock = { now: startAt }
  const store = await openStore(`sqlite:${file}`, { clock: dials(clock) })
  const other = new DatabaseSync(file)
  return {
    store,
    clock,
    alter: async (table, change) => other.exec(`alter table ${table} ${change}`),
    columns: async (table) =>
      other
        .prepare('select name from pragma_table_info(?)')
        .all(table)
        .map((row) => String((row as { name: unknown }).name)),
    async close() {
      other.close()
      await store.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function openSchema(): Promise<Shared> {
  const schema = lendSchema()
  const clock = { now: startAt }
  const url = inject('postgresUrl')
  // With one connection every statement is asked for again where it was prepared.
  const store = await openStore(url, { schema, clock: dials(clock), connectionsMax: 1, allowNonDurable: true })
  const other = new pg.Client(url)
  await other.connect()
  return {
    store,
    clock,
    alter: async (table, change) => void (await other.query(`alter table ${schema}.${table} ${change}`)),
    async columns(table) {
      const text = 'select column_name from information_schema.columns where table_schema = $1 and table_name = $2'
      return (await other.query(text, [schema, table])).rows.map((row) => String(row.column_name))
    },
    async close() {
      await other.end()
      await store.close()
      await returnSchema(schema)
    },
  }
}

function dials(clock: { readonly now: number }) {
  return { now: () => clock.now, monotonic: () => clock.now }
}

const name = 'report'
const tableNames = Object.keys(tables) as TableName[]
const queue = 'default'

/** An hour of a worker, with the reads of a person who watches it; answers what was fired and how its runs ended. */
async function workAnHour({ store, clock }: Shared, workerId: string) {
  clock.now += hour
  const { runs } = await store.fireDue({ limit: 100 })
  const can = { kinds: ['handler'], host: true }
  const claimId = `claim ${clock.now}`
  const { leases } = await store.lease({ queue, workerId, claimId, can, limit: 10, leaseMs: hour })
  const outcome = { kind: 'success' } as const
  const settled = await store.settle(
    leases.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome })),
  )
  const run = runs[0]?.id ?? ''
  // The next hour leases a run that has no schedule's instant, too.
  expect(await store.do(retryRun, run)).toMatchObject({ answer: 'created' })
  expect(await store.look(findSchedule, name)).toMatchObject({ spec: { name } })
  expect(await store.look(listSchedules, { limit: 10 })).toMatchObject([{ spec: { name } }])
  expect(await store.look(listLedger, name)).toContainEqual(
    expect.objectContaining({ from: clock.now, outcome: 'completed' }),
  )
  expect(await store.look(findRun, run)).toMatchObject({ id: run, status: 'completed' })
  expect(await store.look(findQueue, queue)).toMatchObject({ name: queue })
  expect(await store.look(listWorkers)).toMatchObject([{ id: workerId }])
  return {
    lateness: runs.map(({ occurrenceAt }) => clock.now - occurrenceAt),
    ends: settled.map(({ answer }) => answer),
  }
}

/** What parts once added to tables of the kernel. It is theirs to read. */
const ofParts: ReadonlySet<string> = new Set(['queue.notify', 'schedule.group_name'])

describe.each(['sqlite', 'postgres'] as const)(
  'a worker whose store another version migrates meanwhile (%s)',
  (kind) => {
    let shared: Shared
    beforeEach(async () => {
      shared = await open[kind]()
    })
    afterEach(() => shared.close())

    it('knows every column of the tables that it reads whole, but for those of parts', async () => {
      for (const table of tableNames) {
        const kernel = (await shared.columns(table)).filter((column) => !ofParts.has(`${table}.${column}`))
        expect([table, columnsOf(table).split(/,\s+/).sort()]).toEqual([table, kernel.sort()])
      }
    })

    it('goes on firing, leasing and settling when a column is added to any table', async () => {
      const { store } = shared
      const timing = { cron: '0 * * * *', zone: 'UTC' }
      await store.do(
        putSchedule,
        { name: 'report', timing, target: { handler: 'h' }, overlap: 'allow' },
        { mode: 'put', actor },
      )
      const workerId = await store.do(registerWorker, {
        name: 'w',
        host: 'h',
        can: { kinds: ['handler'] },
        beatMs: hour,
      })
      await workAnHour(shared, workerId)
      const before = await workAnHour(shared, workerId)
      expect(before).toEqual({ lateness: [0], ends: ['written', 'written'] })
      for (const table of tableNames) {
        await shared.alter(table, 'add column added_later bigint default 7')
        expect([table, await workAnHour(shared, workerId)]).toEqual([table, before])
      }
    })
  },
)
