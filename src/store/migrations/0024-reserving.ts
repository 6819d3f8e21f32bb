import type { Migration } from './migration.ts'

/** Whether every run of a namespace reserves a slot before it starts. A lease reads it, so that a worker need not ask for each run. */
export const reserving: Migration = {
  version: 24,
  name: 'reserving',
  statements: ['alter table belfry.namespace add column reserves smallint not null default 0'],
}
