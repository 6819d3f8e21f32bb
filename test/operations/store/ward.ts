import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest'
import { openStore, schemaVersion } from '../../../src/open-store.ts'
import type { CheckName, Diagnosis } from '../../../src/operations/store/diagnosis.ts'
import { hashOf } from '../../../src/store/check.ts'
import type { Actor, Lease, NewWorker, Store } from '../../../src/store/port.ts'
import { databaseOf } from '../../../src/store/sql-store.ts'
import { all, both, type Row } from '../../../src/store/statement.ts'
import { ownIdentity, type ProcessIdentity } from '../../../src/store/workers/process-identity.ts'
import { registerWorker } from '../../../src/store/workers/register-worker.ts'
import { TestClock } from '../../../src/testing/test-clock.ts'
import { postgresUrl } from '../../postgres.ts'
import { Desk, startAt, verbsAt } from '../desk.ts'

export const second = 1_000
export const minute = 60_000
export const hour = 60 * minute
export const actor: Actor = { name: 'tester', door: 'test' }
export type Kind = 'SQLite' | 'PostgreSQL'

const own = ownIdentity() as ProcessIdentity
/** A process of this machine that lives, and one that is certainly gone: its pid has started again since. */
export const here = own
export const gone = { ...own, startedAt: String(Number(own?.startedAt) - 1) }

/** A store whose doctor is called, and a way past its port to make it ill. */
export class Ward extends Desk {
  readonly url: string
  readonly doctor = verbsAt(() => this.context).store.doctor
  #claims = 0

  constructor(store: Store, clock: TestClock, url: string) {
    super(store, clock)
    this.url = url
  }

  sql(text: string): Promise<Row[]> {
    const statement = both(`ward ${hashOf(text).slice(0, 20)}`, text)
    return databaseOf(this.store).write(() => all(statement))
  }

  worker(more: Partial<NewWorker> = {}): Promise<string> {
    const can = { kinds: ['handler', 'command', 'http'], host: true }
    return this.store.do(registerWorker, { name: 'w', host: 'h', can, beatMs: minute, ...more })
  }

  async leaseFor(workerId: string, leaseMs = minute): Promise<Lease[]> {
    const can = { kinds: ['handler'], host: true }
    const claimId = `ward ${++this.#claims}`
    return (await this.store.lease({ queue: 'default', workerId, claimId, can, limit: 100, leaseMs })).leases
  }

  /** All that is stored, table by table. */
  async rows(): Promise<Record<string, Row[]>> {
    const found: Record<string, Row[]> = {}
    for (const table of tables) {
      const rows = await databaseOf(this.store).read(() =>
        all(both(`ward all of ${table}`, `select * from belfry.${table}`)),
      )
      found[table] = rows.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
    }
    return found
  }
}

const tables = [
  ...['migration', 'namespace', 'queue', 'queue_version', 'start', 'need', 'schedule', 'schedule_version', 'hint'],
  ...['schedule_run', 'ledger', 'run', 'ready', 'aside', 'lease', 'attempt', 'result', 'output', 'idempotency'],
  ...[
    'dedupe',
    'worker',
    'duty',
    'audit',
    'hold',
    'stop_span',
    'setting',
    'calendar',
    'calendar_version',
    'calendar_use',
    'calendar_asking',
  ],
]
const asNew = [
  ...tables.slice(2).map((table) => `delete from belfry.${table}`),
  `delete from belfry.namespace where name <> 'default'`,
  'update belfry.namespace set notify = null',
  'delete from belfry.migration',
  `insert into belfry.migration (version, name, applied_at) values (${schemaVersion}, 'newest', 0)`,
].map((text, index) => both(`ward as new ${index}`, text))

export function checkIn({ checks }: Diagnosis, name: CheckName) {
  const check = checks.find((one) => one.check === name)
  if (check === undefined) return expect.unreachable(`There is no check ${name}.`)
  // Whatever is found has a next step, unless it was mended.
  for (const { next, fixed } of check.findings) expect(next === null).toBe(fixed !== undefined)
  return check
}

let schemas = 0

/** Tells the same sentences on a SQLite file and on a real PostgreSQL. Each finds the store as new, which is far quicker than a new one. */
export function inEachWard(tell: (ward: () => Ward, kind: Kind) => void): void {
  describe.each(['SQLite', 'PostgreSQL'] as const)('%s', (kind) => {
    let ward: Ward
    let leave: () => Promise<void>
    beforeAll(async () => {
      const clock = new TestClock(startAt)
      const folder = mkdtempSync(join(tmpdir(), 'belfry-ward-'))
      const schema = `ward_${process.pid}_${++schemas}`
      const url = kind === 'SQLite' ? `sqlite:${join(folder, 'belfry.db')}` : postgresUrl()
      ward = new Ward(await openStore(url, { clock, schema }), clock, url)
      leave = async () => {
        await ward.store.close()
        rmSync(folder, { recursive: true, force: true })
        if (kind === 'PostgreSQL') await dropSchema(schema)
      }
    })
    afterAll(() => leave())
    afterEach(async () => {
      await databaseOf(ward.store).write(function* () {
        for (const statement of asNew) yield* all(statement)
      })
      ward.clock.set(startAt)
    })
    tell(() => ward, kind)
  })
}

async function dropSchema(schema: string): Promise<void> {
  const client = new pg.Client(postgresUrl())
  await client.connect()
  await client.query(`drop schema ${pg.escapeIdentifier(schema)} cascade`)
  await client.end()
}
