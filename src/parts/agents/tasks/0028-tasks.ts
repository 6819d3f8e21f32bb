import type { Migration } from '../../../store/migrations/migration.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'

/** Tasks with their ids, projects and authors. All other fields of a task are in the spec of its schedule. */
export const taskTables: Migration = {
  version: 28,
  name: 'tasks',
  statements: [
    `create table belfry.task (
      schedule_id bigint not null primary key,
      ns bigint not null,
      id {text} not null,
      project {text} not null,
      author {text} not null,
      caller {text} not null,
      run_id bigint,
      asked_as {text} not null,
      created_at bigint not null,
      is_open smallint not null default 1,
      unique (ns, id)
    )`,
    'create index task_project on belfry.task (ns, project, created_at) where is_open = 1',
    'create index task_run on belfry.task (run_id) where run_id is not null',
    `create index aside_missed on belfry.aside (ns, run_id) where kind = 'parked' and reason = '${missedReason}'`,
  ],
}
