import type { Dials } from '../src/core/clock.ts'
import { migrations } from '../src/open-store.ts'
import { parts } from '../src/parts.ts'
import { migrate } from '../src/store/migrations/migrate.ts'
import type { Store } from '../src/store/port.ts'
import { SqlStore } from '../src/store/sql-store.ts'
import { configure } from '../src/store/sqlite/boot.ts'
import { SqliteDatabase } from '../src/store/sqlite/database.ts'
import { openHandle, type SqliteHandle, type SqliteStatement } from '../src/store/sqlite/driver.ts'
import { BrittleDatabase } from './brittle-database.ts'
import { ChangeLog } from './change-log.ts'

const namespaceId = 1

/**
 * The one store that all worlds of a process stand on, one after the other: the real SQL store in memory, emptied between
 * them. Making the tables anew for each would cost more than most histories take.
 */
export class Ground {
  readonly handle: SqliteHandle
  readonly changes: ChangeLog
  readonly database: BrittleDatabase
  readonly #clearings: readonly SqliteStatement[]
  #clock: Dials = { now: () => 0, monotonic: () => 0 }

  private constructor(handle: SqliteHandle, database: (clock: Dials) => BrittleDatabase) {
    this.handle = handle
    const clock: Dials = { now: () => this.#clock.now(), monotonic: () => this.#clock.monotonic() }
    this.database = database(clock)
    this.changes = new ChangeLog(handle)
    this.#clearings = clearings(handle)
  }

  static async lay(): Promise<Ground> {
    const handle = openHandle(':memory:')
    configure(handle, 'memory:')
    await migrate(new SqliteDatabase(handle, 'memory:', { now: () => 0, monotonic: () => 0 }), migrations)
    return new Ground(handle, (clock) => new BrittleDatabase(handle, 'memory:', clock))
  }

  /** An empty store that lives by this clock. Whoever had the ground before has it no longer. */
  store(clock: Dials): Store {
    this.#clock = clock
    this.handle.exec('begin immediate')
    for (const clearing of this.#clearings) clearing.run()
    this.handle.exec('commit')
    this.changes.forget()
    this.database.breakNext(null)
    return new SqlStore(this.database, { ns: namespaceId, namespace: 'default', defaultMaxConcurrent: 3, parts })
  }

  close(): void {
    this.handle.close()
  }
}

function clearings(handle: SqliteHandle): SqliteStatement[] {
  const tables = handle
    .prepare(`select name from main.sqlite_master where type = 'table' and name not like 'sqlite_%'`)
    .all() as { name: string }[]
  const kept = ['migration', 'id_counter', 'opener']
  const emptied = tables.filter(({ name }) => !kept.includes(name)).map(({ name }) => `delete from main.${name}`)
  const begun = [
    `update id_counter set last = ${namespaceId}`,
    `insert into namespace (id, name, created_at) values (${namespaceId}, 'default', 0)`,
  ]
  return [...emptied, ...begun].map((text) => handle.prepare(text))
}
