import type { Migration } from '../../../store/migrations/migration.ts'

/** Which attempt works in a checkout, and the worktrees of attempts: a worktree with changes is kept after its attempt. */
export const workspaceTables: Migration = {
  version: 30,
  name: 'workspaces',
  statements: [
    `create table belfry.agent_checkout (
      ns bigint not null,
      path {text} not null,
      run_id bigint not null,
      fence int not null,
      hold_id bigint,
      primary key (ns, path)
    ) {clustered}`,
    'create index agent_checkout_run on belfry.agent_checkout (run_id)',
    `create table belfry.agent_worktree (
      run_id bigint not null,
      fence int not null,
      ns bigint not null,
      machine {text} not null,
      path {text} not null,
      root {text} not null,
      base {text} not null,
      made_at bigint not null,
      left_at bigint,
      has_changes int,
      bytes bigint,
      primary key (run_id, fence)
    ) {clustered}`,
    'create index agent_worktree_machine on belfry.agent_worktree (ns, machine, made_at)',
  ],
}
