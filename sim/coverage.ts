/**
 * What must have happened in a large number of histories. A fault that never occurs proves nothing, and a workload that
 * has lost one would go on being green.
 */
export const mustHappen: readonly string[] = [
  'fault: crash',
  'fault: dies-before',
  'fault: dies-after',
  'fault: short freeze',
  'fault: freeze past the lease',
  'fault: graceful stop',
  'fault: hasty stop',
  'fault: deaf',
  'fault: store away',
  'fault: clock forwards',
  'fault: clock back',
  'fault: nobody for long',
  'fault: refused',
  'fault: unknown-done',
  'fault: unknown-undone',
  'fault: slow call',
  'fault: wake-up lost',
  'fault: wake-up doubled',
  'fault: target slower than its lease',
  'fault: target ignores the stop',
  'act: enqueue again after an unknown commit',
  'act: put',
  'act: pause',
  'act: resume',
  'act: delete',
  'act: hint',
  'act: run now',
  'act: backfill',
  'act: cancel',
  'act: reset',
  'act: retry',
  'act: set queue',
  'act: account',
  'act: admission',
  'seen: lease taken back as expired',
  'seen: lease taken back from the dead',
  'seen: stale end refused',
  'seen: end already written',
  'seen: claim found after an unknown commit',
  'seen: run parked',
  'seen: attempt ended deferred',
  'seen: run cancelled while leased',
  'seen: occurrences missed',
  'seen: occurrence skipped for overlap',
  'seen: run behind a key',
  'seen: run behind another of its schedule',
  'seen: run held',
  'seen: attempt not repeated, effect unknown',
  'seen: rows pruned',
  'seen: hint of a rule',
  'seen: pause of a rule',
  'seen: action of a planner',
  'seen: action of a planner refused',
  'seen: run leased where it was enqueued',
  'seen: lease on its way with a run, refused',
  'seen: lease on its way with a run, unknown-done',
  'seen: lease on its way with a run, unknown-undone',
  'seen: lease on its way with a run, fails',
]

/** How many histories it takes until each of them has certainly happened. */
export const coverageSeedsMin = 500

export function neverHappened(counts: ReadonlyMap<string, number>): string[] {
  return mustHappen.filter((kind) => (counts.get(kind) ?? 0) === 0)
}

/** Adds the counts of one history to those of others. */
export function addCounts(sum: Map<string, number>, counts: Iterable<readonly [string, number]>): void {
  for (const [kind, count] of counts) sum.set(kind, (sum.get(kind) ?? 0) + count)
}
