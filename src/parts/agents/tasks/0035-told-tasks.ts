import type { Migration } from '../../../store/migrations/migration.ts'

/** When tasks expire, and what people were notified of: the expiry that was announced, and the newest missed run. */
export const toldTasks: Migration = {
  version: 35,
  name: 'told tasks',
  statements: [
    'alter table belfry.task add column expires_at bigint',
    'alter table belfry.task add column expiry_told bigint',
    'alter table belfry.task add column missed_told bigint',
    {
      sqlite: `update belfry.task set expires_at = (select json_extract(s.spec, '$.task.expiresAt') from belfry.schedule s
        where s.id = task.schedule_id) where is_open = 1`,
      postgres: `update belfry.task set expires_at = (select (s.spec::json #>> '{task,expiresAt}')::bigint from belfry.schedule s
        where s.id = task.schedule_id) where is_open = 1`,
    },
    'create index task_expiry on belfry.task (ns, expires_at) where is_open = 1 and expires_at is not null',
  ],
}
