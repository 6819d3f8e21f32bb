import type { Migration } from '../../store/migrations/migration.ts'

/** The planner of a namespace, the time of its next look at each schedule, its past looks, and its proposals. */
export const plannerTables: Migration = {
  version: 41,
  name: 'planner',
  statements: [
    `create table belfry.planner (
      ns bigint not null primary key,
      spec {text} not null,
      paused {text},
      enrolled_to bigint not null,
      managed_by {text},
      updated_at bigint not null
    ) {clustered}`,
    `create table belfry.planner_look (
      schedule_id bigint not null primary key,
      ns bigint not null,
      look_at bigint not null,
      looked_at bigint,
      fails int not null,
      verdict {text}
    ) {clustered}`,
    'create index planner_look_due on belfry.planner_look (ns, look_at)',
    `create table belfry.analysis (
      id bigint not null primary key,
      ns bigint not null,
      schedule_id bigint not null,
      run_id bigint,
      state {text} not null,
      author {text} not null,
      at bigint not null,
      ended_at bigint,
      facts {text} not null,
      told {text} not null
    ) {clustered}`,
    'create index analysis_of_schedule on belfry.analysis (ns, schedule_id, id)',
    'create index analysis_age on belfry.analysis (ns, at)',
    `create table belfry.proposal (
      id bigint not null primary key,
      ns bigint not null,
      schedule_id bigint not null,
      analysis_id bigint,
      state {text} not null,
      author {text} not null,
      effect {text} not null,
      reason {text} not null,
      version int not null,
      epoch int not null,
      foreseen {text} not null,
      created_at bigint not null,
      expires_at bigint not null,
      decided_at bigint,
      decided_by {text}
    ) {clustered}`,
    'create index proposal_of_state on belfry.proposal (ns, state, id)',
    `create index hint_of_models on belfry.hint (ns, created_at) where author_kind in ('planner', 'agent')`,
  ],
}
