import pg from 'pg'
import { type Dials, pause, systemClock } from '../../core/clock.ts'
import { BelfryError } from '../../core/error.ts'
import { hashOf } from '../check.ts'
import { closedStore, type Database } from '../database-port.ts'
import type { DatabaseCondition } from '../health-views.ts'
import type { NewsKind } from '../news.ts'
import {
  clockOr,
  metOthers,
  type Param,
  type Request,
  type Row,
  type Statement,
  type Step,
  StepAgain,
  stepTriesMax,
  storeClock,
  type Value,
} from '../statement.ts'
import { arrayText } from './array.ts'
import { condition } from './condition.ts'
import { refuseOtherDatabase, refusePool, whichDatabase } from './lent.ts'
import type { Pool } from './pool.ts'
import { codeOf, isConflict, isSilence } from './refusal.ts'
import { type Connection, type Query, type SentQuery, Talk } from './talk.ts'
import { notification, Wire } from './wire.ts'

interface Transaction {
  readonly begin: string
  readonly end: (talk: Talk) => Promise<void>
  readonly isRehearsal?: boolean
  /** The transaction only reads and takes no lock, so its end need not be awaited. */
  readonly isLook?: boolean
}

/** About as long as opening a connection takes, or a little more. */
const connectMs = 20
const readCommitted = 'begin isolation level read committed'
const oneSnapshot = 'begin isolation level repeatable read read only'
const idsInBlock = 1_000
const int8 = 20

const silence = 'This process was blocked or stopped in the middle of a step, so the server ended the session.'
const noTransaction = '25P01'
const abortedTransaction = '25P02'

/** A pool of connections to one schema. Each transaction has its own connection. */
export class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly place: string
  readonly #pool: Pool
  readonly #schema: string
  readonly #wire: Wire
  readonly #clock: Dials | undefined
  readonly #spelled = new Map<Statement, { readonly name: string; readonly text: string }>()
  readonly #ahead = new WeakMap<Request, SentQuery>()
  /** Callers' own connections, with the last step on each. */
  readonly #lent = new WeakMap<Connection, Promise<unknown>>()
  readonly #ofThisDatabase = new WeakSet<Connection>()
  /** The running steps; none of these promises rejects. */
  readonly #underWay = new Set<Promise<unknown>>()
  #ids = { next: 1, last: 0 }
  #closing: Promise<void> | undefined
  /** The ends of reads whose connections are being returned. */
  readonly #leaving = new Set<Promise<void>>()

  constructor(pool: Pool, { place, schema, clock }: { place: string; schema: string; clock?: Dials | undefined }) {
    this.#pool = pool
    this.place = place
    this.#schema = schema
    this.#wire = new Wire(pool, serverName(`belfry ${schema}`))
    this.#clock = clock
  }

  write<Result>(verb: () => Step<Result>): Promise<Result> {
    return this.#again(() => this.#transaction(verb, { begin: readCommitted, end: (talk) => talk.commit() }))
  }

  rehearse<Result>(verb: () => Step<Result>): Promise<Result> {
    const end = (talk: Talk) => talk.rollBack()
    return this.#again(() => this.#transaction(verb, { begin: readCommitted, end, isRehearsal: true }))
  }

  read<Result>(verb: () => Step<Result>): Promise<Result> {
    return this.#again(() =>
      this.#transaction(verb, { begin: oneSnapshot, end: (talk) => talk.rollBack(), isLook: true }),
    )
  }

  async #again<Result>(step: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries++) {
      try {
        return await step()
      } catch (error) {
        if (!isConflict(error) && !(error instanceof StepAgain)) throw error
        // Repeats the step: it was rolled back whole, and every step can be repeated.
        if (tries >= stepTriesMax) throw metOthers((error as Error).message, error)
      }
    }
  }

  async within<Result>(transaction: unknown, verb: () => Step<Result>): Promise<Result> {
    if (this.#closing !== undefined) throw closedStore(this.place)
    const connection = transaction as Connection
    if (typeof connection?.query !== 'function') {
      throw new BelfryError('invalid', 'The transaction is not a pg client.', {
        hint: "Pass the client on which you called query('begin').",
      })
    }
    refusePool(connection)
    // Two concurrent steps would share one savepoint, and the failure of one would undo the other.
    const before = this.#lent.get(connection) ?? Promise.resolve()
    const step = before.then(() => this.#stepWithin(connection, verb))
    this.#lent.set(connection, step.catch(ignored))
    return step
  }

  /** A step is all or nothing, even when the caller continues after its refusal. */
  async #stepWithin<Result>(connection: Connection, verb: () => Step<Result>): Promise<Result> {
    const talk = new Talk(connection, { place: this.place, types: typeParsers, begin: null })
    await this.#beginStep(talk)
    try {
      await this.#refuseOther(connection, talk)
      const result = await this.#drive(talk, verb())
      await talk.ask({ text: 'release savepoint belfry_step' })
      return result
    } catch (error) {
      await connection.query({ text: 'rollback to savepoint belfry_step', types: typeParsers }).catch(ignored)
      throw error
    }
  }

  /** A connection stays with one database, so it is checked once. */
  async #refuseOther(connection: Connection, talk: Talk): Promise<void> {
    if (this.#ofThisDatabase.has(connection)) return
    const [theirs] = await talk.ask({ text: whichDatabase })
    refuseOtherDatabase(theirs, (await this.#pool.query<Row>(whichDatabase)).rows[0], this.place)
    this.#ofThisDatabase.add(connection)
  }

  async trimLog(): Promise<void> {
    // Nothing to do: the server manages its log.
  }

  condition(): Promise<DatabaseCondition> {
    return this.read(condition)
  }

  async damage(): Promise<null> {
    // Nothing to do: the server checks its pages.
    return null
  }

  changeMark(): null {
    return null
  }

  listen(heard: (what: NewsKind | 'anything') => void): () => void {
    return this.#clock === undefined ? this.#wire.listen(heard) : () => undefined
  }

  hears(): boolean {
    return this.#clock !== undefined || this.#wire.hears()
  }

  wakeOthers(news: Iterable<NewsKind>): void {
    if (this.#clock === undefined) this.#wire.wakeOthers(news)
  }

  close(): Promise<void> {
    this.#closing ??= this.#pool.close(Promise.all([this.#wire.close(), ...this.#underWay]))
    return this.#closing
  }

  async #beginStep(talk: Talk): Promise<void> {
    try {
      await talk.ask({ text: 'savepoint belfry_step' })
    } catch (error) {
      if (codeOf(error) === abortedTransaction) throw alreadyAborted(error)
      if (codeOf(error) !== noTransaction) throw error
      throw new BelfryError('invalid', 'The transaction is a pg client without an open transaction.', {
        hint: "Call query('begin') on the client first, and commit it yourself afterwards.",
        cause: error,
      })
    }
  }

  async #transaction<Result>(verb: () => Step<Result>, transaction: Transaction): Promise<Result> {
    if (this.#closing !== undefined) throw closedStore(this.place)
    return this.#untilOver(this.#stepAlone(verb, transaction))
  }

  #untilOver<Result>(step: Promise<Result>): Promise<Result> {
    const over = step.then(ignored, ignored)
    this.#underWay.add(over)
    void over.then(() => this.#underWay.delete(over))
    return step
  }

  async #stepAlone<Result>(verb: () => Step<Result>, { begin, end, ...kind }: Transaction): Promise<Result> {
    const client = await this.#connect()
    const talk = new Talk(client, { place: this.place, types: typeParsers, begin, ...kind })
    const release = (broken?: Error) => client.release(broken)
    try {
      const result = await this.#drive(talk, verb())
      const ended = end(talk)
      if (kind.isLook === true) this.#leave(ended.then(() => release(), release))
      else await ended.then(() => release())
      return result
    } catch (error) {
      release(await rolledBack(client, error))
      throw this.#isBrokenSilence(client, error) ? new StepAgain(silence, { cause: error }) : error
    }
  }

  /**
   * Whether the server ended the session because this process stalled in the middle of a step. Nothing of that step was written,
   * even if its commit was sent: the server waits in a transaction only while it has no commit to execute.
   */
  #isBrokenSilence(client: pg.PoolClient, error: unknown): boolean {
    if (!(error instanceof BelfryError)) return false
    if (error.code !== 'unavailable' && error.code !== 'commit-unknown') return false
    return isSilence(error.cause) || this.#pool.wasSilent(client)
  }

  /** Returns to the reader before the connection is free again. */
  #leave(leaving: Promise<void>): void {
    const over = this.#untilOver(leaving)
    this.#leaving.add(over)
    void over.then(() => this.#leaving.delete(over))
  }

  async #connect(): Promise<pg.PoolClient> {
    // The connection of a previous read may still be on its way back. Its server may be stuck, so the wait is no longer than
    // opening a new connection takes.
    if (this.#pool.idleCount === 0 && this.#leaving.size > 0) {
      await Promise.race([...this.#leaving, pause(systemClock, connectMs)])
    }
    try {
      return await this.#pool.connect()
    } catch (error) {
      throw new BelfryError('unavailable', `No connection to ${this.place}: ${(error as Error).message}.`, {
        hint: 'Check that the server runs and accepts this user; Belfry then continues by itself.',
        cause: error,
      })
    }
  }

  async #drive<Result>(talk: Talk, step: Step<Result>): Promise<Result> {
    let turn = step.next()
    while (!turn.done) turn = step.next(await this.#answer(talk, turn.value))
    return turn.value
  }

  async #answer(talk: Talk, request: Request): Promise<Row[]> {
    switch (request.kind) {
      case 'now':
        if (this.#clock !== undefined) return [{ now: this.#clock.now() }]
        return talk.ask({ text: nowText })
      case 'rows':
        return this.#ahead.get(request.of)?.rows() ?? []
      case 'ids':
        return this.#takeIds(talk, request.count)
      case 'wake-others':
        // Only the caller knows when its transaction commits, so only here the notification is part of the transaction. It
        // carries no sender, because this process must receive it too.
        if (this.#clock !== undefined) return []
        return talk.ask({ ...notification, values: [this.#wire.channel, ''] })
      case 'all':
      case 'each':
        return this.#run(talk, request)
    }
  }

  async #run(talk: Talk, request: Extract<Request, { statement: Statement }>): Promise<Row[]> {
    const spelled = this.#spell(request.statement)
    if (spelled === null) return []
    const values: unknown[] = (request.params ?? []).map((param) => this.#valueOf(param))
    if (request.kind === 'each') values.push(...columns(request.tuples))
    const query = { ...spelled, values }
    switch (request.way) {
      case 'alone':
        return talk.askAlone(query)
      case 'unread':
      case 'ahead':
        this.#ahead.set(request, await talk.tell(query))
        return []
      case 'last':
        return talk.askLast(query)
      default:
        return talk.ask(query)
    }
  }

  #valueOf(param: Param): Value {
    return param === storeClock ? (this.#clock?.now() ?? null) : param
  }

  #spell(statement: Statement): Pick<Query, 'name' | 'text'> | null {
    if (statement.postgres === null) return null
    let spelled = this.#spelled.get(statement)
    if (spelled === undefined) {
      const name = serverName(`belfry ${this.#schema} ${statement.name}`)
      spelled = { name, text: postgresText(statement.postgres, this.#schema) }
      this.#spelled.set(statement, spelled)
    }
    return spelled
  }

  /** A sequence returns whole blocks, so that an enqueue seldom pays a round trip for its ids. */
  async #takeIds(talk: Talk, count: number): Promise<Row[]> {
    const rows: Row[] = []
    while (rows.length < count) {
      if (this.#ids.next > this.#ids.last) {
        const text = postgresText(`select nextval('belfry.id_block') as block`, this.#schema)
        const block = Number((await talk.askAlone({ text }))[0]?.block)
        // If two answers arrive out of order the larger block counts; otherwise ids would not
        // ascend.
        if (block * idsInBlock > this.#ids.last) {
          this.#ids = { next: (block - 1) * idsInBlock + 1, last: block * idsInBlock }
        }
      }
      rows.push({ id: this.#ids.next++ })
    }
    return rows
  }
}

const nowText = `select ${clockOr('null')} as now`

export function postgresText(text: string, schema: string): string {
  const name = pg.escapeIdentifier(schema)
  return text.replace(/"belfry"|\bbelfry\./g, (found) => (found.endsWith('.') ? `${name}.` : name))
}

/** The server truncates longer names, and statements of long schemas would then collide. */
const nameBytesMax = 63

function serverName(name: string): string {
  return Buffer.byteLength(name) <= nameBytesMax ? name : `belfry ${hashOf(name)}`
}

/**
 * Parses 64-bit integers as numbers, only in these queries: the driver's global parsers and those of a caller's client belong to
 * the embedding program. Instants and ids stay far below 2^53.
 */
export const typeParsers: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: unknown) {
    if (oid === int8) return Number
    return pg.types.getTypeParser(oid, format as 'text')
  },
}

function columns(tuples: readonly (readonly Value[])[]): string[] {
  const width = tuples[0]?.length ?? 0
  return Array.from({ length: width }, (_, column) => arrayText(tuples.map((tuple) => tuple[column] ?? null)))
}

function ignored(): void {
  // The step itself reports the error.
}

async function rolledBack(client: pg.PoolClient, error: unknown): Promise<Error | undefined> {
  try {
    await client.query('rollback')
    return undefined
  } catch {
    // The connection is gone with its transaction; the pool must not reuse it.
    return error instanceof Error ? error : new Error(String(error))
  }
}

function alreadyAborted(error: unknown): BelfryError {
  return new BelfryError('invalid', 'The transaction has already failed and can only be rolled back.', {
    hint: "Call query('rollback') on the client and begin again.",
    cause: error,
  })
}
