import type { Dials } from '../core/clock.ts'
import { BelfryError } from '../core/error.ts'
import type { DatabaseCondition } from './health-views.ts'
import type { NewsKind } from './news.ts'
import type { Step } from './statement.ts'

/** What the verbs need of a database. Each call is one transaction, whole or not at all. */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /** Names the store for people: a path or a URL without its password. */
  readonly place: string
  /** Writes happen in the order in which they are asked for, also when the caller does not wait in between. */
  readonly keepsOrder?: true
  write<Result>(verb: () => Step<Result>): Promise<Result>
  /** The same, taken back at its end: it answers what the write would have answered, and has written nothing. */
  rehearse<Result>(verb: () => Step<Result>): Promise<Result>
  read<Result>(verb: () => Step<Result>): Promise<Result>
  /** Takes part in the caller's own open transaction, which the caller commits or rolls back. */
  within<Result>(transaction: unknown, verb: () => Step<Result>): Promise<Result>
  /** A number that differs whenever another process may have written since it was last asked for; `null` if unknown. */
  changeMark(): number | null
  /** Calls back when another process may have written, until the answer is called. */
  listen(heard: (what: NewsKind | 'anything') => void): () => void
  /** Whether writes of other processes are known to be noticed. */
  hears(): boolean
  /** Wakes listeners in other processes: soon, and not once for every call. */
  wakeOthers(news: Iterable<NewsKind>): void
  /** Shortens what the database keeps beside its data when it has grown too long. */
  trimLog(): Promise<void>
  /** What it tells of itself, and whether that can be relied on. */
  condition(): Promise<DatabaseCondition>
  /** Reads all of it, beside the event loop; answers what is damaged, or `null` where nothing is known to be. */
  damage(): Promise<string | null>
  close(): Promise<void>
}

export interface DatabaseOptions {
  /** Replaces the store's own clock, and nothing then happens by itself; for tests and simulation only. */
  readonly clock?: Dials | undefined
  readonly schema: string
  readonly connectionsMax: number
  /** PostgreSQL settings that may lose acknowledged work are refused unless this is set. */
  readonly allowNonDurable: boolean
}

/** Whoever closed a store asks nothing more of it; unlike one that is away, it will not answer again. */
export function closedStore(place: string): BelfryError {
  return new BelfryError('unavailable', `The store ${place} was closed.`, {
    hint: 'Ask before it is closed, or open it anew.',
    details: { closed: true },
  })
}
