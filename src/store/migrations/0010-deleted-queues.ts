import type { Migration } from './migration.ts'

/**
 * A deleted queue keeps its row for the ended runs that name it, until retention has removed them. New work under that name gets
 * a new queue.
 */
export const deletedQueues: Migration = {
  version: 10,
  name: 'deleted-queues',
  statements: ['alter table belfry.queue add column deleted_at bigint'],
}
