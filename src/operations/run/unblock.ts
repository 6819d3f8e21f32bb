import { deathOf, wayToServe } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock } from '../explain/unblock.ts'
import type { Facts } from './standing.ts'
import type { RunCode } from './standing-codes.ts'
import { isStopped } from './standing-words.ts'

/** What would get a run on, what comes by itself first. */
export function unblockOf(code: RunCode, facts: Facts): Unblock[] {
  return ways[code]?.(facts) ?? []
}

const takeBack = byHand('Start a worker, which takes it back.', 'up')

const ways: { readonly [Code in RunCode]?: (facts: Facts) => Unblock[] } = {
  'workers-busy': ({ run, fleet, waiting: { takers } }) => [
    byItself('A slot is free once a run of theirs ends.'),
    { ...wayToServe(run, fleet.live), what: `Or start another worker that has ${takers.needs}.` },
  ],
  leased: ({ run }) =>
    run.lease?.cancelRequestedAt == null
      ? [byItself('Its worker ends it.'), byHand('Ask its worker to end it.', 'run', 'cancel', run.id)]
      : [byItself('Its worker ends it, or its lease expires.', run.lease.expiresAt)],
  'holder-dead': ({ run, fleet }) => {
    if (fleet.live.length === 0) return [takeBack]
    if (deathOf(run.lease?.workerId, fleet)?.isSeen === true) {
      return [byItself('A live worker takes it back within seconds.')]
    }
    return [byItself('A live worker takes it back when its lease expires.', run.lease?.expiresAt ?? null)]
  },
  'lease-expired': ({ fleet }) => (fleet.live.length === 0 ? [takeBack] : [byItself('A live worker takes it back.')]),
  held: ({ schedule, waiting }) => [
    ...(waiting.until === null ? [] : [byItself('The pause ends by itself.', waiting.until)]),
    ...(schedule === null ? [] : [byHand('Resume its schedule.', 'schedule', 'resume', schedule.spec.name)]),
  ],
  parked: ({ run: { id } }) => [
    whatItWrote(id),
    byHand('Give it its whole budget back, once its cause is mended.', 'run', 'reset', id),
    byHand('Or end it for good.', 'run', 'cancel', id),
  ],
  deadline: (facts) => {
    const { run, place, fleet, waiting } = facts
    const endIt = byHand('Or end it now; then a retry makes a new run of it.', 'run', 'cancel', run.id)
    if (isStopped(place)) return [...wayOn(facts), endIt]
    if (waiting.takers.able === 0) return [wayToServe(run, fleet.live), endIt]
    return [byItself('It ends as skipped when a worker looks; then a retry makes a new run of it.')]
  },
  paused: (facts) => wayOn(facts),
  'queue-paused': (facts) => wayOn(facts),
  backoff: ({ run, waiting }) => [byItself('The next attempt may start.', waiting.until), whatItWrote(run.id)],
  'not-before': ({ waiting }) => [byItself('It may start.', waiting.until)],
  overlap: (facts) => endOfHolder(facts),
  'blocked-by-cancel': ({ waiting: { holders } }) => [
    byItself('Its worker ends it, or its lease expires.', holders[0]?.leaseExpiresAt ?? null),
  ],
  'no-worker': ({ run, fleet }) => [wayToServe(run, fleet.live)],
  'concurrency-ceiling': ({ run }) => [
    byItself('A slot is free once one of them ends.'),
    byHand(`Or raise maxConcurrent of queue ${run.queue}.`),
  ],
  'rate-limit': ({ waiting }) => [byItself('The rate lets it go at its place, at the earliest.', waiting.until)],
  'key-ceiling': ({ run }) => [
    byItself('There is room once one of them ends.'),
    byHand(`Or raise maxConcurrentPerKey of queue ${run.queue}.`),
  ],
  'policy-unreadable': ({ run }) => [byHand(`Set the policy of queue ${run.queue} anew.`)],
  failed: ({ run }) => [whatItWrote(run.id), byHand('Make a new run of it.', 'run', 'retry', run.id)],
  cancelled: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  skipped: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
}

/** What an attempt put out is never part of an explanation: nobody knows what is in it. */
export function whatItWrote(runId: string): Unblock {
  return byHand('See what it wrote.', 'run', 'output', runId)
}

function wayOn({ run, place: { window } }: Facts): Unblock[] {
  if (window.paused) return [byHand('Start everything again.')]
  return [byHand('Resume the queue.', 'queue', 'resume', run.queue)]
}

function endOfHolder({ waiting: { holders } }: Facts): Unblock[] {
  const [first] = holders
  if (first === undefined) return [byItself('It takes its turn at the next look.')]
  return [
    byItself(`${first.run} ends.`),
    byHand(`See how ${first.run} stands.`, 'explain', 'run', first.run),
    byHand('Or cancel that run.', 'run', 'cancel', first.run),
  ]
}
