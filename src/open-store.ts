import { parts } from './parts.ts'
import { migrationsOf, newestKnown } from './store/migrations/kernel-migrations.ts'
import { type OpenOptions, openStore as openWith } from './store/open-sql-store.ts'
import type { Store } from './store/port.ts'
import { openLate as openLateWith } from './store/unmade-store.ts'

export type { OpenOptions } from './store/open-sql-store.ts'

export const migrations = migrationsOf(parts)
/** The schema version of this program. */
export const schemaVersion: number = newestKnown(parts)

export function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  return openWith(url, { ...options, parts })
}

/** Like `openStore`, but a missing store is created only by the first write. */
export function openLate(url: string, options: OpenOptions): Store {
  return openLateWith(url, { ...options, parts })
}
