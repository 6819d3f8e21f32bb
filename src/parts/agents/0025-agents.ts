import type { Migration } from '../../store/migrations/migration.ts'

/** Agent profiles from config files, and the facts of each agent attempt, above all its session, which the next attempt may continue. */
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
