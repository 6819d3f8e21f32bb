import type { Dials } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import type { DatabaseCondition } from './health-views.ts'
import type { NewsKind } from './news.ts'
import type { Step } from './statement.ts'

/** What the verbs need from a database. Each call is one transaction, all or nothing. */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** The store's name for people: a path, or a URL without its password. */
  readonly place: string
  /** Writes happen in call order, even when the caller does not await each one. */
  readonly keepsOrder?: true
  write<Result>(verb: () => Step<Result>): Promise<Result>
  /** A `write` that is rolled back at its end. It returns what the write would have returned. */
  rehearse<Result>(verb: () => Step<Result>): Promise<Result>
  read<Result>(verb: () => Step<Result>): Promise<Result>
  /** Runs in the caller's own open transaction. The caller commits or rolls back. */
  within<Result>(transaction: unknown, verb: () => Step<Result>): Promise<Result>
  /** A number that changes whenever another process may have written; `null` if unknown. */
  changeMark(): number | null
  /** Calls `heard` when another process may have written. Call the returned function to stop listening. */
  listen(heard: (what: NewsKind | 'anything') => void): () => void
  /** Whether notifications from other processes are known to arrive. */
  hears(): boolean
  /** Notifies listeners in other processes soon. Several calls share one notification. */
  wakeOthers(news: Iterable<NewsKind>): void
  /** Truncates the database's log when it is too long. */
  trimLog(): Promise<void>
  condition(): Promise<DatabaseCondition>
  /** Checks the whole database off the event loop. Returns what is damaged, or `null`. */
  damage(): Promise<string | null>
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Replaces the store's clock and stops everything that runs on timers; for tests and simulation only. */
  readonly clock?: Dials | undefined
  readonly schema: string
  readonly connectionsMax: number
  /** PostgreSQL settings that may lose acknowledged work are refused unless this is set. */
  readonly allowNonDurable: boolean
}

/** A closed store stays closed; an unreachable one may answer again. */
export function closedStore(place: string): BelfryError {
  return new BelfryError('unavailable', `The store ${place} was closed.`, {
    hint: 'Open the store again.',
    details: { closed: true },
  })
}
