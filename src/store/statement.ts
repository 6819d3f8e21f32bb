import { BelfryError } from '../core/error.ts'
import { columnsOf, type TableName } from './tables.ts'

/**
 * A verb of the store is a generator that yields statements and receives their rows. SQLite runs it to its end without a single
 * await, so that no transaction is open across a turn of the event loop; PostgreSQL runs the same generator with a round trip for
 * each answer that is read. The verb is written once and cannot tell the two apart.
 */
export type Step<Result> = Generator<Request, Result, Row[]>

export type Value = string | number | null
/** The store's clock as a parameter; PostgreSQL receives `null` and reads its own clock (see `clockOr`). */
export const storeClock: unique symbol = Symbol('store clock')
export type Param = Value | typeof storeClock
export type Row = Record<string, Value>

/**
 * Tables are written `belfry.run`; the prefix becomes the schema's name on PostgreSQL and nothing on SQLite. Parameters are `$1`,
 * `$2`… on both.
 */
export interface Statement {
  readonly name: string
  /**
   * `null` where a database needs no statement: a lock on SQLite, or work that PostgreSQL did in the previous
   * statement.
   */
  readonly sqlite: string | null
  readonly postgres: string | null
}

/**
 * Hints from a verb about a statement, which save PostgreSQL a round trip or a commit. `unread`: its rows are not read, so it
 * may be sent together with the next one. `ahead`: its rows are read later, after the next statement. `alone`: it is a
 * transaction by itself; a verb may continue after it only if it wrote nothing. `last`: it ends the transaction, so that its
 * locks are free without another round trip; a verb that continues begins another transaction, and must not have written
 * anything before.
 */
export type Way = 'unread' | 'ahead' | 'alone' | 'last'

export type Request =
  | { readonly kind: 'all'; readonly statement: Statement; readonly params: readonly Param[]; readonly way?: Way }
  /** SQLite runs the statement once per tuple; PostgreSQL once, with one array per column. */
  | {
      readonly kind: 'each'
      readonly statement: Statement
      readonly tuples: readonly (readonly Value[])[]
      /** The parameters before those of a tuple, the same for all tuples. */
      readonly params?: readonly Param[]
      readonly way?: Way
    }
  /** The rows of a statement that was sent ahead. */
  | { readonly kind: 'rows'; readonly of: Request }
  | { readonly kind: 'now' }
  /** `areTold`: the caller gets the ids before the commit, and may still roll back its own transaction. */
  | { readonly kind: 'ids'; readonly count: number; readonly areTold?: true }
  /** Wakes other processes once this step is committed; only for a step in a caller's own transaction. */
  | { readonly kind: 'wake-others' }

/**
 * The instant of a parameter, or the server's own where it is null; only PostgreSQL has a server clock. Compared with a column it
 * needs its own `select`: the clock advances while a statement runs, and no index works with a value that changes from row to
 * row.
 */
export function clockOr(parameter: string): string {
  return `coalesce(cast(${parameter} as bigint), floor(extract(epoch from clock_timestamp()) * 1000)::bigint)`
}

/** The spellings in which the two databases differ, for a text that is otherwise the same. */
export interface Spelling {
  readonly join: Joins
  /** Whether a column is in a list of numbers or texts; see `inList`. */
  readonly numbers: (param: string) => string
  readonly texts: (param: string) => string
  /** The instant that a parameter names; see `clockOr`. */
  readonly now: (param: string) => string
}

/** A statement with one text for both databases, except for a few spellings. */
export function both(name: string, text: string | ((as: Spelling) => string)): Statement {
  if (typeof text === 'string') return { name, sqlite: text, postgres: text }
  return { name, sqlite: text(asSqlite), postgres: text(asPostgres) }
}

export function dialects(name: string, texts: Omit<Statement, 'name'>): Statement {
  return { name, ...texts }
}

/** A table with its alias, without the schema. */
type Aliased = `${TableName} ${string}`

/**
 * How a statement joins one more table. PostgreSQL looks up the table row by row: vacuum often sees churning tables empty, and a plain
 * join that is planned then reads the whole table for every row once it has filled again. The `offset` prevents such a join.
 */
export interface Joins {
  inner(table: Aliased, on: string): string
  left(table: Aliased, on: string): string
}

export const plainJoins: Joins = {
  inner: (table, on) => `join belfry.${table} on ${on}`,
  left: (table, on) => `left join belfry.${table} on ${on}`,
}
const probed = (table: Aliased, on: string) =>
  `lateral (select ${columnsOf(table.split(' ')[0] as TableName)} from belfry.${table} where ${on} offset 0) ${table.split(' ')[1]}`
export const probes: Joins = {
  inner: (table, on) => `cross join ${probed(table, on)}`,
  left: (table, on) => `left join ${probed(table, on)} on true`,
}

/** Whether there is such a row, probed row by row for the same reason: PostgreSQL turns an `exists` into a join. */
export function thereIs(from: string): string {
  return `(select 1 ${from} limit 1) is not null`
}

export function thereIsNo(from: string): string {
  return `(select 1 ${from} limit 1) is null`
}

/**
 * Membership in a list that is passed as JSON text, for tables that churn. PostgreSQL would plan a join with a list by the
 * table's last known size; a table that was empty at that time would be read whole from then on.
 */
export const inList = {
  numbers: (param: string) => ({
    sqlite: `in (select value from json_each(${param}))`,
    postgres: `= any (translate(${param}, '[]', '{}')::bigint[])`,
  }),
  texts: (param: string) => ({
    sqlite: `in (select value from json_each(${param}))`,
    postgres: `= any (array(select json_array_elements_text(${param}::json)))`,
  }),
}

const asSqlite: Spelling = {
  join: plainJoins,
  numbers: (param) => inList.numbers(param).sqlite,
  texts: (param) => inList.texts(param).sqlite,
  now: (param) => param,
}
const asPostgres: Spelling = {
  join: probes,
  numbers: (param) => inList.numbers(param).postgres,
  texts: (param) => inList.texts(param).postgres,
  now: clockOr,
}

export function* all<Result = Row>(statement: Statement, ...params: Param[]): Step<Result[]> {
  return (yield { kind: 'all', statement, params }) as Result[]
}

/** Runs a statement that is a transaction by itself. */
export function* allAlone<Result = Row>(statement: Statement, ...params: Param[]): Step<Result[]> {
  return (yield { kind: 'all', statement, params, way: 'alone' }) as Result[]
}

/** Runs a statement that ends the transaction. */
export function* allLast(statement: Statement, ...params: Param[]): Step<Row[]> {
  return yield { kind: 'all', statement, params, way: 'last' }
}

export function* one<Result = Row>(statement: Statement, ...params: Param[]): Step<Result | undefined> {
  return ((yield { kind: 'all', statement, params }) as Result[])[0]
}

/** The rows have no promised order: a statement for several tuples must return columns that identify each tuple. */
export function* each<Result = Row>(statement: Statement, tuples: readonly (readonly Value[])[]): Step<Result[]> {
  if (tuples.length === 0) return []
  return (yield { kind: 'each', statement, tuples }) as Result[]
}

/** As `each`, as a transaction by itself, with parameters before those of each tuple. */
export function* eachAlone<Result = Row>(
  statement: Statement,
  tuples: readonly (readonly Value[])[],
  ...params: Param[]
): Step<Result[]> {
  if (tuples.length === 0) return []
  return (yield { kind: 'each', statement, tuples, params, way: 'alone' }) as Result[]
}

/** Sends a statement whose rows are read after the next one's; pass the answer to `rowsOf`. */
export function* ahead(statement: Statement, ...params: Param[]): Step<Request> {
  const request: Request = { kind: 'all', statement, params, way: 'ahead' }
  yield request
  return request
}

/** As `ahead`, for several tuples, with parameters before those of each. */
export function* eachAhead(
  statement: Statement,
  tuples: readonly (readonly Value[])[],
  ...params: Param[]
): Step<Request> {
  const request: Request = { kind: 'each', statement, tuples, params, way: 'ahead' }
  if (tuples.length > 0) yield request
  return request
}

/** The rows of a statement that was sent ahead; no rows if nothing was sent. */
export function* rowsOf<Result = Row>(request: Request): Step<Result[]> {
  return (yield { kind: 'rows', of: request }) as Result[]
}

/** Runs a statement whose rows are not read. */
export function* run(statement: Statement, ...params: Param[]): Step<void> {
  yield { kind: 'all', statement, params, way: 'unread' }
}

/** As `run`, for several tuples. */
export function* runEach(statement: Statement, tuples: readonly (readonly Value[])[]): Step<void> {
  if (tuples.length > 0) yield { kind: 'each', statement, tuples, way: 'unread' }
}

/** The store's clock: PostgreSQL's own, the machine's on SQLite, or the injected one of a test. */
export function* clockNow(): Step<number> {
  const [row] = yield { kind: 'now' }
  return row?.now as number
}

export function* freshIds(count: number): Step<number[]> {
  if (count === 0) return []
  return (yield { kind: 'ids', count }).map((row) => row.id as number)
}

/**
 * Takes ids for runs that a caller sees before the commit: no other run gets one of them, even if the caller's
 * transaction is rolled back.
 */
export function* freshRunIds(count: number): Step<number[]> {
  if (count === 0) return []
  return (yield { kind: 'ids', count, areTold: true }).map((row) => row.id as number)
}

/** Thrown by a verb that conflicted with another: the database rolls the step back and repeats it, a few times. */
export class StepAgain extends Error {
  override readonly name = 'StepAgain'
}

/** Thrown when a few repetitions were not enough. Nothing was written, and the caller may try again later. */
export function metOthers(message: string, cause?: unknown): BelfryError {
  return new BelfryError('unavailable', message, { hint: 'Ask again.', cause })
}

export const stepTriesMax = 10
