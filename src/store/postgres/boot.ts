import type pg from 'pg'
import { BelfryError } from '../../core/error.ts'
import type { DatabaseOptions } from '../database-port.ts'

const versionMin = 140_000

export interface Settings {
  readonly version: number
  readonly version_text: string
  readonly fsync: string
  readonly synchronous_commit: string
  readonly full_page_writes: string
  readonly read_only: string
  readonly in_recovery: boolean
}

export const readSettings = `select current_setting('server_version_num')::int as version,
  current_setting('server_version') as version_text, current_setting('fsync') as fsync,
  current_setting('synchronous_commit') as synchronous_commit, current_setting('full_page_writes') as full_page_writes,
  current_setting('transaction_read_only') as read_only, pg_is_in_recovery() as in_recovery`

const promises = ['fsync', 'synchronous_commit', 'full_page_writes'] as const

/** Settings that let a server crash lose acknowledged work. */
export function riskySettings(settings: Settings): (typeof promises)[number][] {
  return promises.filter((name) => settings[name] === 'off')
}

/** Refuses a server that is too old, read-only, or may lose acknowledged work in a crash. */
export async function refuseUnfitServer(pool: pg.Pool, place: string, options: DatabaseOptions): Promise<void> {
  const { rows } = await pool.query<Settings>(readSettings)
  const settings = rows[0] as Settings
  if (settings.version < versionMin) {
    throw new BelfryError(
      'unavailable',
      `PostgreSQL at ${place} is version ${settings.version_text}; Belfry needs 14 or later.`,
    )
  }
  if (settings.in_recovery || settings.read_only === 'on') {
    throw new BelfryError('unavailable', `PostgreSQL at ${place} is read-only.`, {
      hint: settings.in_recovery
        ? 'It is a replica; name the primary server.'
        : 'default_transaction_read_only is on; turn it off for this user or database.',
    })
  }
  const risky = riskySettings(settings)
  if (risky.length > 0 && !options.allowNonDurable) {
    throw new BelfryError(
      'unavailable',
      `PostgreSQL at ${place} may lose acknowledged work: ${risky.join(', ')} is off.`,
      {
        hint: `Turn ${risky.join(', ')} on, or open the store with allowNonDurable if losing work is acceptable.`,
        details: { settings: risky },
      },
    )
  }
}
