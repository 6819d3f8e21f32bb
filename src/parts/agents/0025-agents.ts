import type { Migration } from '../../store/migrations/migration.ts'

/** Profiles of agents that config files bring, and what is known of each attempt of an agent: its session above all, which the next attempt may continue. */
export const agentTables: Migration = {
  version: 25,
  name: 'agents',
  statements: [
    `create table belfry.agent_profile (
      ns bigint not null,
      name {text} not null,
      spec {text} not null,
      managed_by {text} not null,
      primary key (ns, name)
    ) {clustered}`,
    `create table belfry.agent_attempt (
      run_id bigint not null,
      fence int not null,
      ns bigint not null,
      profile {text} not null,
      session_id {text},
      facts {text} not null,
      primary key (run_id, fence)
    ) {clustered}`,
  ],
}
