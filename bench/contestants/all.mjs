const graphile = (concurrentJobs, size, delay) => ({
  name: `concurrency ${concurrentJobs}, localQueue ${size}${delay === undefined ? '' : `, batch delays ${delay}`}`,
  worker: {
    concurrentJobs,
    maxPoolSize: concurrentJobs + 1,
    localQueue: { size },
    ...(delay === undefined ? {} : { completeJobBatchDelay: delay, failJobBatchDelay: delay }),
  },
})

/**
 * Everybody who is measured, and how each is set. Where several settings are tried, the best of them stands for the
 * contestant; a quick run tries the first, which is mostly the best. `latency` is the setting for work that comes one by one; who has none is not asked.
 */
export const contestants = [
  {
    name: 'Belfry (SQLite)',
    module: 'belfry.mjs',
    place: 'sqlite',
    settings: [{ name: 'maxConcurrent 500' }],
    latency: { name: 'maxConcurrent 500' },
    how: 'WAL, synchronous=FULL, every attempt kept; through Belfry.open, enqueueMany, start.',
  },
  {
    name: 'plainjob',
    module: 'plainjob.mjs',
    packages: ['plainjob', 'better-sqlite3'],
    place: 'sqlite',
    settings: [{ name: 'one worker' }],
    latency: { name: 'polls every second, its default', pollMs: 1_000 },
    how: 'WAL; synchronous=FULL is set after it has set NORMAL; jobs are kept; it works on one job at a time.',
  },
  {
    name: "Belfry's store (SQLite)",
    module: 'belfry-store.mjs',
    place: 'sqlite',
    settings: [{ name: 'no engine, batches of 500', batch: 500, connections: 1 }],
    how: "Belfry's store in the same bare loop, without its engine and library, to tell what each costs.",
  },
  {
    name: 'bare loop (SQLite)',
    module: 'bare-loop.mjs',
    place: 'sqlite',
    settings: [{ name: 'batches of 500', batch: 500, connections: 1 }],
    how: 'lease and settle by hand on the same driver: WAL, synchronous=FULL, ceiling, fence and attempt row, nothing else.',
  },
  {
    name: 'BullMQ',
    module: 'bullmq.mjs',
    packages: ['bullmq', 'ioredis'],
    place: 'redis',
    settings: [
      { name: 'concurrency 500, fsync every second', concurrency: 500, appendfsync: 'everysec' },
      { name: 'concurrency 100, fsync every second', concurrency: 100, appendfsync: 'everysec' },
      { name: 'concurrency 100, fsync always', concurrency: 100, appendfsync: 'always' },
    ],
    latency: { name: 'concurrency 100, fsync every second', concurrency: 100, appendfsync: 'everysec' },
    how: 'Redis with an append-only file; fsync every second is what its documentation recommends and is less durable than all others here; completed jobs are kept, its default.',
  },
  {
    name: 'Belfry (PostgreSQL)',
    module: 'belfry.mjs',
    place: 'postgres',
    settings: [{ name: 'maxConcurrent 500' }],
    latency: { name: 'maxConcurrent 500' },
    how: "the server's default settings, every attempt kept; through Belfry.open, enqueueMany, start.",
  },
  {
    name: 'graphile-worker',
    module: 'graphile-worker.mjs',
    packages: ['graphile-worker'],
    place: 'postgres',
    settings: [graphile(100, 500, 0), graphile(24, 500, 0), graphile(100, 1_000, 0), graphile(24, 500)],
    latency: graphile(24, 500, 0),
    how: 'same server; localQueue and batch delays of zero as its page on performance shows; no log of successes; it deletes jobs that are done, so it keeps no history.',
  },
  {
    name: 'pg-boss',
    module: 'pg-boss.mjs',
    packages: ['pg-boss'],
    place: 'postgres',
    settings: [
      { name: 'fetch and complete 500, two loops', loops: 2 },
      { name: 'fetch and complete 500, one loop', loops: 1 },
    ],
    latency: { name: 'work, polls every half second, its shortest', pollMs: 500 },
    how: 'same server; fetch and complete in batches of 500; jobs are kept.',
  },
  {
    name: "Belfry's store (PostgreSQL)",
    module: 'belfry-store.mjs',
    place: 'postgres',
    settings: [
      { name: 'no engine, two connections, batches of 250', batch: 250, connections: 2 },
      { name: 'no engine, one connection, batches of 500', batch: 500, connections: 1 },
    ],
    how: "Belfry's store in the same bare loop, without its engine and library, to tell what each costs.",
  },
  {
    name: 'bare loop (PostgreSQL)',
    module: 'bare-loop.mjs',
    place: 'postgres',
    settings: [
      { name: 'one connection, batches of 500', batch: 500, connections: 1 },
      { name: 'two connections, batches of 250', batch: 250, connections: 2 },
    ],
    how: 'lease and settle by hand on the same driver and server: queue lock, ceiling, fence and attempt row, nothing else.',
  },
]

export async function openContestant({ module, place, setting }) {
  const { open } = await import(new URL(module, import.meta.url).href)
  return open(place, setting)
}
