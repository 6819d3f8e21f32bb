/**
 * Migrations are written once for both databases; words in braces are spelled per database. They are numbered, only go forward,
 * and each is applied all or nothing.
 */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly (string | Readonly<Record<Dialect, string>>)[]
}

export type Dialect = 'sqlite' | 'postgres'

const words: Record<Dialect, Readonly<Record<string, string>>> = {
  // Only the exact words `integer primary key` make a column SQLite's row id; any other spelling costs a second index.
  sqlite: { 'row id': 'integer primary key', text: 'text', clustered: 'without rowid', 'hot table': '' },
  // Byte order on every text: queue order and uniqueness must not depend on the collation of a database.
  postgres: {
    'row id': 'bigint primary key',
    text: 'text collate "C"',
    clustered: '',
    // These tables are small and churn: vacuum must be triggered by row changes, not by a share of the table's size.
    'hot table':
      'with (autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)',
  },
}

export function spelled(statement: Migration['statements'][number], dialect: Dialect): string {
  const text = typeof statement === 'string' ? statement : statement[dialect]
  return text.replace(/\{([a-z ]+)\}/g, (_, word: string) => {
    const spelling = words[dialect][word]
    if (spelling === undefined) throw new Error(`A migration says {${word}}, which has no spelling for ${dialect}.`)
    return spelling
  })
}
