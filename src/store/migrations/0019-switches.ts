import type { Migration } from './migration.ts'

/** Who asks: a token belongs to a person or an agent, and the audit says which of them a caller was. */
export const switches: Migration = {
  version: 19,
  name: 'switches',
  statements: [
    `alter table belfry.token add column caller {text} not null default 'person'`,
    // Null in lines of older programs, whose callers were persons.
    'alter table belfry.audit add column caller {text}',
  ],
}
