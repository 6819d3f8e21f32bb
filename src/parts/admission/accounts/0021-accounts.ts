import type { Migration } from '../../../store/migrations/migration.ts'

/**
 * Accounts, and who uses them: a row for each attempt that reserved a slot, open until the attempt has ended. The row with the
 * empty name is the ceiling of the whole namespace.
 */
export const accounts: Migration = {
  version: 21,
  name: 'accounts',
  statements: [
    `create table belfry.account (
      id {row id},
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      standing {text} not null,
      created_at bigint not null,
      created_by {text} not null,
      updated_at bigint not null,
      managed_by {text},
      unique (ns, name)
    )`,
    `create table belfry.account_use (
      run_id bigint not null,
      fence int not null,
      account {text} not null,
      ns bigint not null,
      begun_after int not null,
      begun_at bigint not null,
      ended_at bigint,
      primary key (run_id, fence, account)
    )`,
    'create index account_use_open on belfry.account_use (ns, account) where ended_at is null',
    'create index account_use_ended on belfry.account_use (ended_at) where ended_at is not null',
    `create index need_account on belfry.need (ns, account) where account <> ''`,
  ],
}
