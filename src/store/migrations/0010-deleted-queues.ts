import type { Migration } from './migration.ts'

/**
 * A queue that was deleted. Its row stays for the ended runs that name it, until retention has removed them; work that
 * names it again finds it as a new one.
 */
export const deletedQueues: Migration = {
  version: 10,
  name: 'deleted-queues',
  statements: ['alter table belfry.queue add column deleted_at bigint'],
}
