import type { Migration } from './migration.ts'

/**
 * Outside hosts: programs that lease through a door. A host's name is its identity, and the host is one worker for ever, because Belfry
 * does not see its process start or end. A request with a key is remembered, so that a lost answer can be read again.
 */
export const hosts: Migration = {
  version: 3,
  name: 'hosts',
  statements: [
    'alter table belfry.worker add column is_host smallint not null default 0',
    'create unique index worker_host on belfry.worker (ns, name) where is_host = 1',
    `create table belfry.claim (
      ns bigint not null,
      key {text} not null,
      claim_id {text} not null,
      input_hash {text} not null,
      granted {text} not null,
      created_at bigint not null,
      primary key (ns, key)
    ) {clustered}`,
    'create index claim_age on belfry.claim (created_at)',
  ],
}
