import { existsSync, statSync } from 'node:fs'
import type { DatabaseCondition, RiskySetting } from '../health-views.ts'
import { dialects, one, type Row, type Step } from '../statement.ts'
import { networkFileSystem } from './boot.ts'

/** A longer log slows reads down and fills the disk. */
export const logBytesMax = 64 * 1024 * 1024

const readPragmas = dialects('sqlite condition', {
  sqlite: `select sqlite_version() as version, (select page_size from pragma_page_size) as page_bytes,
    (select freelist_count from pragma_freelist_count) as free_pages,
    (select journal_mode from pragma_journal_mode) as journal_mode,
    (select synchronous from pragma_synchronous) as synchronous`,
  postgres: null,
})

const synchronousNames = ['off', 'normal', 'full', 'extra']
const full = 2

export function* condition(place: string): Step<DatabaseCondition> {
  const row = (yield* one(readPragmas)) as Row
  const isEphemeral = place === 'memory:'
  const freeBytes = (row.free_pages as number) * (row.page_bytes as number)
  return {
    kind: 'SQLite',
    version: row.version as string,
    file: isEphemeral
      ? null
      : {
          bytes: statSync(place).size,
          freeBytes,
          logBytes: logBytes(place),
          logBytesMax,
          network: networkFileSystem(place) ?? null,
        },
    isEphemeral,
    risks: isEphemeral ? [] : risksIn(row),
  }
}

/** The size of the log, which is not yet part of the file itself. */
export function logBytes(file: string): number {
  const log = `${file}-wal`
  return existsSync(log) ? statSync(log).size : 0
}

/** Both settings are set at every opening: if one differs now, another program has changed it since. */
function risksIn({ journal_mode: mode, synchronous }: Row): RiskySetting[] {
  const mend = 'Restart this process; every opening sets it.'
  const risks: RiskySetting[] = []
  if (mode !== 'wal') risks.push({ setting: 'journal_mode', is: String(mode), mend })
  if ((synchronous as number) < full) {
    risks.push({ setting: 'synchronous', is: synchronousNames[synchronous as number] ?? String(synchronous), mend })
  }
  return risks
}
