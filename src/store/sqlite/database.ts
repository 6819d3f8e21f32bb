import { existsSync, realpathSync } from 'node:fs'
import { type Dials, systemClock } from '../../core/clock.ts'
import { BelfryError, isDamage } from '../../core/error.ts'
import { closedStore, type Database } from '../database-port.ts'
import type { DatabaseCondition } from '../health-views.ts'
import {
  dialects,
  type Param,
  type Request,
  type Row,
  type Statement,
  type Step,
  storeClock,
  type Value,
} from '../statement.ts'
import { damageIn } from './boot.ts'
import { condition, logBytes, logBytesMax } from './condition.ts'
import { isBusy, type SqliteHandle, type SqliteStatement } from './driver.ts'
import { FileWatch } from './file-watch.ts'
import { LentIds } from './lent-ids.ts'
import { listen, watchLog } from './listen.ts'
import { explained } from './refusal.ts'
import { pragmaInThread } from './thread.ts'
import { WriteQueue } from './write-queue.ts'

interface Prepared {
  readonly statement: SqliteStatement
  /** The names of the returned columns; empty when the statement returns no rows. */
  readonly columns: readonly string[]
}

/** One connection. Reads run at once, writes in turn. */
export class SqliteDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly keepsOrder = true
  readonly place: string
  readonly #handle: SqliteHandle
  readonly #clock: Dials
  readonly #beforeClose: () => void
  /** A weak map, so that a caller's handle can be collected. */
  readonly #prepared = new WeakMap<SqliteHandle, Map<Statement, Prepared>>()
  readonly #ahead = new WeakMap<Request, Row[]>()
  readonly #listening = new Set<() => void>()
  readonly #file: FileWatch
  readonly #writes: WriteQueue
  readonly #lentIds = new LentIds()
  #dataVersion: SqliteStatement | undefined
  /** The first sign of damage to the file that was seen. */
  #damage: BelfryError | null = null

  constructor(handle: SqliteHandle, place: string, clock: Dials, beforeClose: () => void = () => undefined) {
    this.#handle = handle
    this.#beforeClose = beforeClose
    this.place = place
    this.#clock = clock
    this.#file = new FileWatch(place, clock)
    const writer = {
      place,
      begin: () => this.#begin(),
      drive: <Result>(step: Step<Result>) => this.#written(step),
      commit: () => this.#commit(),
      rollBack: () => this.#rollBack(),
    }
    this.#writes = new WriteQueue(writer, clock)
  }

  write<Result>(verb: () => Step<Result>): Promise<Result> {
    return this.#writes.add(verb)
  }

  rehearse<Result>(verb: () => Step<Result>): Promise<Result> {
    return this.#writes.add(verb, { isRehearsal: true })
  }

  async read<Result>(verb: () => Step<Result>): Promise<Result> {
    this.#refuseClosed()
    this.#file.refuseVanished()
    this.#handle.exec('begin')
    try {
      const result = this.#drive(this.#handle, verb())
      this.#handle.exec('commit')
      return result
    } catch (error) {
      this.#rollBack()
      throw this.#explained(error)
    }
  }

  async within<Result>(transaction: unknown, verb: () => Step<Result>): Promise<Result> {
    this.#refuseClosed()
    const handle = transaction as SqliteHandle
    refuseClosedHandle(handle)
    if (typeof handle?.prepare !== 'function' || handle.isTransaction !== true) {
      throw new BelfryError('invalid', 'The transaction is not a SQLite handle with an open transaction.', {
        hint: "Call exec('begin immediate') on the handle first, and commit it yourself afterwards.",
      })
    }
    refuseOtherFile(handle, this.place)
    // A step is all or nothing, even when the caller continues after its refusal.
    handle.exec('savepoint belfry_step')
    try {
      const result = this.#drive(handle, verb())
      handle.exec('release belfry_step')
      return result
    } catch (error) {
      if (handle.isTransaction) handle.exec('rollback to belfry_step; release belfry_step')
      throw this.#explained(error)
    }
  }

  async trimLog(): Promise<void> {
    if (logBytes(this.place) <= logBytesMax) return
    // Fails while other connections read the log; the next round of retention tries again.
    await pragmaInThread(this.place, 'wal_checkpoint(truncate)')
  }

  async condition(): Promise<DatabaseCondition> {
    // A damaged file stays damaged until it is restored, even where the damaged page is not read again.
    if (this.#damage !== null) throw this.#damage
    return this.read(() => condition(this.place))
  }

  async damage(): Promise<string | null> {
    return this.place === 'memory:' ? null : damageIn(this.place)
  }

  changeMark(): number {
    this.#dataVersion ??= this.#handle.prepare('pragma data_version')
    return Number((this.#dataVersion.get() as Row).data_version)
  }

  listen(heard: (what: 'anything') => void): () => void {
    const isAlone = this.place === 'memory:' || this.#clock !== systemClock
    if (isAlone || !this.#handle.isOpen) return () => undefined
    const watch = watchLog(this.place)
    const stop = listen({
      clock: systemClock,
      changeMark: () => this.changeMark(),
      heard: () => heard('anything'),
      watch,
    })
    this.#listening.add(stop)
    return () => {
      this.#listening.delete(stop)
      stop()
    }
  }

  hears(): boolean {
    return true
  }

  wakeOthers(): void {
    // Nothing to send: other processes watch the file.
  }

  async close(): Promise<void> {
    if (!this.#handle.isOpen) return
    for (const stop of this.#listening) stop()
    const beforeClose = this.#beforeClose
    try {
      // biome-ignore lint/correctness/useYield: a verb without a statement of its own, for the sake of its transaction.
      await this.write(function* () {
        beforeClose()
      })
      // The driver releases its statements only when they are collected, and SQLite keeps the log until then. A copy of the file
      // after a clean close must contain everything.
      if (this.place !== 'memory:') this.#handle.exec('pragma wal_checkpoint(truncate)')
    } catch (error) {
      // A damaged file stays recorded as left open, so that the next opening checks all of it.
      const told = this.#explained(error)
      if (!isDamage(told)) throw told
    }
    this.#prepared.delete(this.#handle)
    this.#dataVersion = undefined
    this.#handle.close()
  }

  #explained(error: unknown): unknown {
    const told = explained(error, this.place)
    if (isDamage(told)) this.#damage ??= told
    return told
  }

  #refuseClosed(): void {
    if (!this.#handle.isOpen) throw closedStore(this.place)
  }

  #begin(): boolean {
    this.#refuseClosed()
    this.#file.refuseVanished()
    try {
      this.#handle.exec('begin immediate')
      return true
    } catch (error) {
      if (isBusy(error)) return false
      throw this.#explained(error)
    }
  }

  #written<Result>(step: Step<Result>): Result {
    try {
      return this.#drive(this.#handle, step)
    } catch (error) {
      throw this.#explained(error)
    }
  }

  #commit(): void {
    try {
      this.#handle.exec('commit')
    } catch (error) {
      this.#rollBack()
      // After a failed sync the pages may or may not be on the disk, so it is unknown whether the
      // commit took effect.
      throw new BelfryError(
        'commit-unknown',
        `The commit to ${this.place} failed and may or may not have taken effect.`,
        { hint: 'Read the current state before trying again.', cause: error },
      )
    }
  }

  #rollBack(): void {
    // After some errors, such as a full disk, SQLite has already rolled back.
    if (this.#handle.isTransaction) this.#handle.exec('rollback')
  }

  #drive<Result>(handle: SqliteHandle, step: Step<Result>): Result {
    let turn = step.next()
    while (!turn.done) turn = step.next(this.#answer(handle, turn.value))
    return turn.value
  }

  #answer(handle: SqliteHandle, request: Request): Row[] {
    switch (request.kind) {
      case 'now':
        return [{ now: this.#clock.now() }]
      case 'rows':
        return this.#ahead.get(request.of) ?? []
      case 'ids':
        if (request.areTold && handle !== this.#handle) return this.#lentIds.take(request.count).map((id) => ({ id }))
        return this.#countIds(handle, request.count)
      case 'wake-others':
        // Nothing to send: other processes notice the change of the file.
        return []
      case 'all': {
        const prepared = this.#prepare(handle, request.statement)
        if (prepared === null) return []
        const found = run(
          prepared,
          request.params.map((param) => this.#valueOf(param)),
        )
        if (request.way === 'ahead') this.#ahead.set(request, found)
        return found
      }
      case 'each': {
        const prepared = this.#prepare(handle, request.statement)
        if (prepared === null) return []
        const rows: Row[] = []
        const first = request.params?.map((param) => this.#valueOf(param))
        for (const tuple of request.tuples) {
          for (const row of run(prepared, first === undefined ? tuple : [...first, ...tuple])) rows.push(row)
        }
        if (request.way === 'ahead') this.#ahead.set(request, rows)
        return rows
      }
    }
  }

  #countIds(handle: SqliteHandle, count: number): Row[] {
    const [row] = run(this.#prepare(handle, countIds) as Prepared, [count])
    const first = Number(row?.last) - count + 1
    return Array.from({ length: count }, (_, index) => ({ id: first + index }))
  }

  #valueOf(param: Param): Value {
    return param === storeClock ? this.#clock.now() : param
  }

  #prepare(handle: SqliteHandle, statement: Statement): Prepared | null {
    if (statement.sqlite === null) return null
    let ofHandle = this.#prepared.get(handle)
    if (ofHandle === undefined) {
      ofHandle = new Map()
      this.#prepared.set(handle, ofHandle)
    }
    let prepared = ofHandle.get(statement)
    if (prepared === undefined) {
      prepared = prepare(handle, sqliteText(statement.sqlite))
      ofHandle.set(statement, prepared)
    }
    return prepared
  }
}

/** Only for SQLite: PostgreSQL has a sequence for this. */
const countIds = dialects('count ids', {
  sqlite: 'update belfry.id_counter set last = last + $1 returning last',
  postgres: null,
})

export function sqliteText(text: string): string {
  return text.replace(/\bbelfry\./g, '').replace(/\$(\d+)/g, '?$1')
}

/** The driver answers every call on a closed handle with an error of its own. */
function refuseClosedHandle(handle: SqliteHandle | null | undefined): void {
  if (handle?.isOpen !== false) return
  throw new BelfryError('invalid', 'The transaction is on a SQLite handle that is closed.', {
    hint: "Open the handle, call exec('begin immediate') on it, and close it after the commit.",
  })
}

/** A handle belongs to one database: the file it was opened on, whatever other files it has attached. */
function refuseOtherFile(handle: SqliteHandle, place: string): void {
  const file = handle.location?.() ?? null
  if (file !== null && place !== 'memory:' && realOf(file) === realOf(place)) return
  const there = file === null ? 'a database in memory' : file
  const here = place === 'memory:' ? 'one in memory, which no other handle reaches' : place
  throw new BelfryError('invalid', `The transaction is on ${there}, and this store is ${here}.`, {
    hint:
      place === 'memory:' ? 'Open a store in a file, and the handle on the same file.' : `Open the handle on ${place}.`,
    details: { transaction: there, store: place },
  })
}

/** Both paths may be links; a dangling link is compared by its name. */
function realOf(file: string): string {
  return existsSync(file) ? realpathSync(file) : file
}

function prepare(handle: SqliteHandle, text: string): Prepared {
  const statement = handle.prepare(text)
  // The driver builds arrays in half the time of objects, even with the objects built from them here.
  statement.setReturnArrays(true)
  return { statement, columns: statement.columns().map(({ name }) => name) }
}

function run({ statement, columns }: Prepared, params: readonly Value[]): Row[] {
  if (columns.length === 0) {
    statement.run(...params)
    return []
  }
  return (statement.all(...params) as unknown as Value[][]).map((values) => {
    const row: Row = {}
    for (let index = 0; index < columns.length; index++) row[columns[index] as string] = values[index] as Value
    return row
  })
}
