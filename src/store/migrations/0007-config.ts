import type { Migration } from './migration.ts'

/** Config files: the source that manages a schedule, a queue or a token, the content of each source now and before, and faulty files. */
export const config: Migration = {
  version: 7,
  name: 'config',
  statements: [
    'alter table belfry.schedule add column managed_by {text}',
    'alter table belfry.queue add column managed_by {text}',
    'alter table belfry.token add column managed_by {text}',
    `create index schedule_managed on belfry.schedule (ns, managed_by, name)
      where managed_by is not null and deleted_at is null`,
    `create table belfry.config (
      ns bigint not null,
      source {text} not null,
      hash {text} not null,
      file {text} not null,
      tokens {text} not null,
      applied_at bigint not null,
      actor {text} not null,
      door {text} not null,
      primary key (ns, source)
    )`,
    `create table belfry.config_content (
      ns bigint not null,
      source {text} not null,
      hash {text} not null,
      applied_at bigint not null,
      primary key (ns, source, hash)
    )`,
    `create table belfry.config_fault (
      ns bigint not null,
      file {text} not null,
      says {text} not null,
      at bigint not null,
      seen_at bigint not null,
      primary key (ns, file)
    )`,
  ],
}
