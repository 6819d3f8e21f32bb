import { afterAll, beforeAll, beforeEach, describe } from 'vitest'
import { formatId, parseId } from '../../src/core/id.ts'
import type { Outcome } from '../../src/core/run/verdict.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { migrations } from '../../src/open-store.ts'
import { parts } from '../../src/parts.ts'
import { hashOf } from '../../src/store/check.ts'
import type { Database } from '../../src/store/database-port.ts'
import { lease } from '../../src/store/leases/lease.ts'
import { rememberPolicy } from '../../src/store/leases/lease-at-once.ts'
import { reclaim } from '../../src/store/leases/reclaim.ts'
import { settle } from '../../src/store/leases/settle.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import type { Actor, Lease, LeaseAnswer, LeaseRequest, NewRun, QueueChange } from '../../src/store/port.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { readPolicy } from '../../src/store/queues/queue-row.ts'
import { setQueue } from '../../src/store/queues/set-queue.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import { enqueue } from '../../src/store/runs/enqueue.ts'
import { SqlStore } from '../../src/store/sql-store.ts'
import { openSqliteMemory } from '../../src/store/sqlite/open.ts'
import { all, both, freshIds, one, type Param, type Row, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'
import { registerWorker } from '../../src/store/workers/register-worker.ts'
import { postgresUrl } from '../postgres.ts'

export const startAt = Date.UTC(2026, 0, 5, 9)
export const actor: Actor = { name: 'tester', door: 'test' }

const insertNamespace = both(
  'test namespace',
  'insert into belfry.namespace (id, name, created_at) values ($1, $2, $3)',
)
const insertSchedule = both(
  'test schedule',
  `insert into belfry.schedule (id, ns, name, spec, version, queue_id, hints, anchor_at, grid_anchor_at, timed_at,
      created_at, updated_at, deleted_at) values ($1, $2, $3, $4, 1, $5, '{}', $6, $6, $6, $6, $6, $7)`,
)
const insertOccurrence = both(
  'test occurrence',
  `update belfry.run set schedule_id = $2, occurrence_at = $3, source = 'baseline-cron' where id = $1`,
)
const insertLive = both('test live', 'insert into belfry.schedule_run (ns, schedule_id, run_id) values ($1, $2, $3)')

/** A namespace of its own on a real database, with a clock that stands still until it is told to move. */
export class Scene {
  readonly #database: Database
  readonly clock: { now: number }
  context: StoreContext = { ns: 0, namespace: '', defaultMaxConcurrent: 5, parts, policies: new Map() }
  readonly #knowsQueues: boolean
  #claims = 0

  constructor(database: Database, clock: { now: number }, { knowsQueues = false } = {}) {
    this.#database = database
    this.clock = clock
    this.#knowsQueues = knowsQueues
  }

  get dialect() {
    return this.#database.dialect
  }

  async begin(): Promise<void> {
    this.clock.now = startAt
    const ns = await this.#database.write(function* () {
      const [id] = (yield* freshIds(1)) as [number]
      yield* one(insertNamespace, id, `test ${id}`, startAt)
      return id
    })
    this.context = { ns, namespace: `test ${ns}`, defaultMaxConcurrent: 5, parts, policies: new Map() }
  }

  async write<Result>(verb: (context: StoreContext) => Step<Result>): Promise<Result> {
    if (this.#knowsQueues) await this.#learnPolicies()
    return this.#database.write(() => verb(this.context))
  }

  /** As somebody has who leased from these queues a moment ago. */
  async #learnPolicies(): Promise<void> {
    const text = 'select name, policy from belfry.queue where ns = $1'
    for (const { name, policy } of await this.sql(text, this.context.ns)) {
      const read = readPolicy(policy as string)
      if (read !== null) rememberPolicy(this.context, name as string, policy as string, read)
    }
  }

  read<Result>(verb: (context: StoreContext) => Step<Result>): Promise<Result> {
    return this.#database.read(() => verb(this.context))
  }

  /** Statements of a test's own, each named after its text. */
  sql(text: string, ...params: Param[]): Promise<Row[]> {
    return this.#database.write(() => all(both(`test ${hashOf(text).slice(0, 20)}`, text), ...params))
  }

  async enqueue(input: NewRun = {}): Promise<string> {
    const [answer] = await this.write((context) => enqueue(context, [input]))
    return answer?.id ?? ''
  }

  async lease(request: Partial<LeaseRequest> = {}): Promise<Lease[]> {
    const defaults = {
      queue: 'default',
      workerId: formatId('worker', 1),
      claimId: `claim ${this.context.ns} ${++this.#claims}`,
      can: { kinds: ['handler', 'http'], host: true },
      limit: 100,
    }
    return (await this.write((context) => lease(context, { ...defaults, ...request }))).leases
  }

  /** As the store leases, in as many steps as that takes. */
  async leaseByStore(request: LeaseRequest): Promise<LeaseAnswer> {
    const store = new SqlStore(this.#database, this.context)
    if (this.#knowsQueues) await store.lease({ ...request, claimId: `${request.claimId}, to know it`, limit: 0 })
    return store.lease(request)
  }

  async end(held: Lease, outcome: Outcome = { kind: 'success' }, result?: unknown) {
    const { runId, fence, scheduleId } = held
    const end = { runId, fence, scheduleId, outcome, ...(result !== undefined && { result }) }
    return (await this.write((context) => settle(context, [end])))[0]
  }

  /** A run that has been executed and ended so. */
  async ended(input: NewRun = {}, outcome: Outcome = { kind: 'success' }): Promise<string> {
    const id = await this.enqueue(input)
    await this.end(await this.leaseOf(id, input.queue), outcome)
    return id
  }

  async leaseOf(id: string, queue = 'default'): Promise<Lease> {
    const held = (await this.lease({ queue })).find(({ runId }) => runId === id)
    if (held === undefined) throw new Error(`${id} was not leased`)
    return held
  }

  async parked(input: NewRun = {}): Promise<string> {
    return this.ended({ onExhausted: 'park', ...input }, { kind: 'failed', reason: 'broken', retryable: false })
  }

  show(id: string) {
    return this.read((context) => findRun(context, id))
  }

  setQueue(name: string, change: Omit<QueueChange, 'actor'>) {
    return this.write((context) => setQueue(context, name, { ...change, actor }))
  }

  registerWorker() {
    const worker = { name: 'w', host: 'h', can: { kinds: ['handler'] }, beatMs: 60_000 }
    return this.write((context) => registerWorker(context, worker))
  }

  reclaim() {
    return this.write((context) => reclaim(context, { limit: 100 }))
  }

  /** A schedule's row as fire and the governor would leave it, without their help. */
  async schedule(spec: Partial<ScheduleSpec> = {}, deletedAt: number | null = null): Promise<number> {
    const whole = { name: `report ${this.context.ns}`, timing: {}, ...spec }
    await this.setQueue(whole.queue ?? 'default', {})
    const { ns } = this.context
    return this.#database.write(function* () {
      const [id] = (yield* freshIds(1)) as [number]
      const text = 'select id from belfry.queue where ns = $1 and name = $2'
      const queue = yield* one<{ id: number }>(both('test queue id', text), ns, whole.queue ?? 'default')
      yield* one(insertSchedule, id, ns, whole.name, JSON.stringify(whole), queue?.id ?? 0, startAt, deletedAt)
      return id
    })
  }

  /** A run that becomes an occurrence of a schedule before anybody has leased it. */
  async occurrence(scheduleId: number, at = startAt, input: NewRun = {}): Promise<string> {
    const id = await this.enqueue(input)
    const { ns } = this.context
    await this.#database.write(function* () {
      yield* one(insertOccurrence, numberOf(id), scheduleId, at)
      yield* one(insertLive, ns, scheduleId, numberOf(id))
    })
    return id
  }
}

export function numberOf(id: string): number {
  return parseId('run', id) ?? parseId('worker', id) ?? 0
}

const databases = ['memory', 'postgres'] as const
type Kind = (typeof databases)[number] | 'postgres that is known'

/** Runs the same sentences on SQLite in memory and on a real PostgreSQL. */
export function onEachDatabase(title: string, tell: (scene: () => Scene) => void): void {
  onDatabases(databases, title, tell)
}

/** The same, and once more on a PostgreSQL whose queues are known, where `lease` takes a shorter way. */
export function onEachWay(title: string, tell: (scene: () => Scene) => void): void {
  onDatabases([...databases, 'postgres that is known'], title, tell)
}

function onDatabases(kinds: readonly Kind[], title: string, tell: (scene: () => Scene) => void): void {
  describe.each(kinds)(`${title} (%s)`, (kind) => {
    const clock = { now: startAt }
    const source = { now: () => clock.now, monotonic: () => clock.now }
    let database: Database
    let scene: Scene
    beforeAll(async () => {
      const options = { schema: `${kind} ${title}`, connectionsMax: 8, allowNonDurable: true, clock: source }
      database = kind === 'memory' ? openSqliteMemory(source) : await openPostgres(postgresUrl(), options)
      await migrate(database, migrations)
    })
    afterAll(() => database.close())
    beforeEach(async () => {
      scene = new Scene(database, clock, { knowsQueues: kind === 'postgres that is known' })
      await scene.begin()
    })
    tell(() => scene)
  })
}
