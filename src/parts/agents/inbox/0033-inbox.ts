import type { Migration } from '../../../store/migrations/migration.ts'

/**
 * Sessions that ask for messages, each with the message that it holds; and what a message has besides its run: its sender, and the session
 * that took it.
 */
export const inboxTables: Migration = {
  version: 33,
  name: 'inbox',
  statements: [
    `create table belfry.agent_session (
      ns bigint not null,
      id {text} not null,
      project {text},
      seen_at bigint not null,
      live_until bigint not null,
      run_id bigint,
      fence int,
      primary key (ns, id)
    ) {clustered}`,
    `create table belfry.inbox_message (
      run_id bigint not null primary key,
      ns bigint not null,
      author {text},
      caller {text},
      session {text},
      fence int,
      claim_id {text},
      done_at bigint
    ) {clustered}`,
  ],
}
