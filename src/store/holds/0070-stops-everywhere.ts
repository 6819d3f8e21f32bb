import type { Migration } from '../migrations/migration.ts'

/** Which stops are of all namespaces of the store: a namespace that is made under one of them is stopped too. */
export const stopsEverywhere: Migration = {
  version: 70,
  name: 'stops everywhere',
  statements: ['alter table belfry.hold add column is_everywhere smallint not null default 0'],
}
