import { afterEach, beforeEach, describe, inject } from 'vitest'
import type { Outcome } from '../../src/core/run/verdict.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { migrations } from '../../src/open-store.ts'
import { parts } from '../../src/parts.ts'
import { hashOf } from '../../src/store/check.ts'
import type { Database } from '../../src/store/database-port.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import type { Actor, Lease, PutOptions, Store } from '../../src/store/port.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { findSchedule, listLedger } from '../../src/store/reads/find-schedule.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { SqlStore } from '../../src/store/sql-store.ts'
import { openSqliteMemory } from '../../src/store/sqlite/open.ts'
import { all, both, one, type Param, type Row } from '../../src/store/statement.ts'
import type { ScheduleView } from '../../src/store/views.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { lendSchema, returnSchema } from '../lent-schema.ts'

/** A Monday, on the hour. */
export const startAt = Date.UTC(2026, 0, 5, 9)
export const second = 1_000
export const minute = 60_000
export const hour = 3_600_000
export const actor: Actor = { name: 'tester', door: 'test' }
const insertNamespace = both(
  'stage namespace',
  `insert into belfry.namespace (id, name, created_at) values (1, 'default', 0)`,
)

export const hourly = { cron: '0 * * * *', zone: 'UTC' } as const

/** A store of its own, a way past its port, with a clock that stands still until it is told to move. */
export class Stage {
  readonly store: Store
  readonly clock: { now: number }
  readonly #database: Database
  #claims = 0
  #workerId = ''

  constructor(database: Database, ns: number, clock: { now: number }) {
    this.#database = database
    this.store = new SqlStore(database, { ns, namespace: 'default', defaultMaxConcurrent: 50, parts })
    this.clock = clock
  }

  /** Statements of a test's own, for what no verb would do. */
  sql(text: string, ...params: Param[]): Promise<Row[]> {
    return this.#database.write(() => all(both(`test ${hashOf(text).slice(0, 20)}`, text), ...params))
  }

  /** Creates or changes the schedule `report`, or the one that is named. */
  async put(spec: Partial<ScheduleSpec>, options: Partial<PutOptions> = {}) {
    const whole = { name: 'report', timing: hourly, target: { handler: 'report' }, ...spec }
    return this.store.do(putSchedule, whole, { mode: 'put', actor, ...options })
  }

  /** The worker that has leased, once one has. */
  get workerId(): string {
    return this.#workerId
  }

  to(instant: number): void {
    this.clock.now = instant
  }

  pass(ms: number): void {
    this.clock.now += ms
  }

  fire(limit = 100) {
    return this.store.fireDue({ limit })
  }

  /** Moves the clock and fires what is due then. */
  async fireAt(instant: number) {
    this.to(instant)
    return this.fire()
  }

  /** Leases runs of any kind. */
  leaseHttp(queue = 'default'): Promise<Lease[]> {
    return this.lease(100, queue, ['handler', 'http', 'rules', 'analysis'])
  }

  async lease(limit = 100, queue = 'default', kinds: readonly string[] = ['handler']): Promise<Lease[]> {
    this.#workerId ||= await this.store.do(registerWorker, {
      name: 'w',
      host: 'h',
      can: { kinds: ['handler'] },
      beatMs: 60_000,
    })
    const can = { kinds: [...kinds], host: true }
    const claimId = `claim ${++this.#claims}`
    return (await this.store.lease({ queue, workerId: this.#workerId, claimId, can, limit, leaseMs: 10 * hour })).leases
  }

  /** Leases the one run that can go. */
  async leaseOne(): Promise<Lease> {
    const [lease, ...others] = await this.lease()
    if (lease === undefined || others.length > 0) throw new Error(`${others.length + (lease ? 1 : 0)} runs could go`)
    return lease
  }

  async end({ runId, fence, scheduleId }: Lease, outcome: Outcome = { kind: 'success' }) {
    return (await this.store.settle([{ runId, fence, scheduleId, outcome }]))[0]
  }

  fail(lease: Lease) {
    return this.end(lease, { kind: 'failed', reason: 'broken', retryable: false })
  }

  /** Fires at an instant and executes the one run that comes of it. */
  async runAt(instant: number, outcome: Outcome = { kind: 'success' }): Promise<string> {
    await this.fireAt(instant)
    const lease = await this.leaseOne()
    await this.end(lease, outcome)
    return lease.runId
  }

  async view(name = 'report'): Promise<ScheduleView> {
    const view = await this.store.look(findSchedule, name)
    if (view === null) throw new Error(`there is no schedule ${name}`)
    return view
  }

  async run(id: string | undefined) {
    const run = await this.store.look(findRun, id ?? '')
    if (run === null) throw new Error(`there is no run ${id}`)
    return run
  }

  /** The ledger of a schedule, oldest first, in the words that matter. */
  async ledger(name = 'report') {
    const rows = await this.store.look(listLedger, name)
    return rows.reverse().map(({ from, to, count, outcome }) => ({ from, to, count, outcome }))
  }
}

export type StoreKind = 'memory' | 'postgres'

/** Tells the same sentences on SQLite in memory and on a real PostgreSQL, each on a store of its own. */
export function onEachStore(title: string, tell: (stage: () => Stage, kind: StoreKind) => void): void {
  describe.each(['memory', 'postgres'] as const)(`${title} (%s)`, (kind) => {
    let stage: Stage
    let schema = ''
    beforeEach(async () => {
      const time = { now: startAt }
      const clock = { now: () => time.now, monotonic: () => time.now }
      if (kind === 'postgres') schema = lendSchema()
      const options = { clock, schema, connectionsMax: 4, allowNonDurable: true }
      const database = kind === 'memory' ? openSqliteMemory(clock) : await openPostgres(inject('postgresUrl'), options)
      await migrate(database, migrations)
      await database.write(() => one(insertNamespace))
      stage = new Stage(database, 1, time)
    })
    afterEach(async () => {
      await stage.store.close()
      if (kind === 'postgres') await returnSchema(schema)
    })
    tell(() => stage, kind)
  })
}
