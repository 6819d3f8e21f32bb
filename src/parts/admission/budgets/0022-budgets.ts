import type { Migration } from '../../../store/migrations/migration.ts'

/**
 * Budgets with the state of their period; what running attempts have reserved, by run and fence; what attempts used, also
 * where no budget counts it.
 */
export const tables: Migration = {
  version: 22,
  name: 'budgets',
  statements: [
    `create table belfry.budget (
      id {row id},
      ns bigint not null,
      name {text} not null,
      scope {text} not null,
      subject {text} not null,
      terms {text} not null,
      state {text},
      hold_id {text},
      version int not null,
      managed_by {text},
      created_at bigint not null,
      created_by {text} not null,
      updated_at bigint not null,
      unique (ns, name)
    )`,
    `create table belfry.budget_reservation (
      run_id bigint not null,
      fence int not null,
      budget_id bigint not null,
      ns bigint not null,
      from_at bigint not null,
      amounts {text} not null,
      reserved_at bigint not null,
      settled_at bigint,
      primary key (run_id, fence, budget_id)
    ) {clustered}`,
    'create index budget_reservation_of on belfry.budget_reservation (budget_id)',
    `create table belfry.attempt_usage (
      run_id bigint not null,
      fence int not null,
      ns bigint not null,
      schedule_id bigint,
      kind {text} not null,
      name {text} not null,
      account {text} not null,
      tags {text} not null,
      tokens_in bigint,
      tokens_out bigint,
      tokens_cached bigint,
      money bigint,
      currency {text},
      runtime_ms bigint not null,
      is_completed smallint not null,
      is_noop smallint,
      at bigint not null,
      primary key (run_id, fence)
    ) {clustered}`,
    'create index attempt_usage_at on belfry.attempt_usage (ns, at)',
    'create index attempt_usage_of on belfry.attempt_usage (schedule_id, at) where schedule_id is not null',
  ],
}
