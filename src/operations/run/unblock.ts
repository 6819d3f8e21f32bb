import { byHand, byItself, type Unblock } from '../explain/unblock.ts'
import type { Facts } from './standing.ts'
import type { RunCode } from './standing-codes.ts'

/** What would get a run on, what comes by itself first. */
export function unblockOf(code: RunCode, facts: Facts): Unblock[] {
  return ways[code]?.(facts) ?? []
}

const upAgain = (what: string) => byHand(what, 'up')

const ways: { readonly [Code in RunCode]?: (facts: Facts) => Unblock[] } = {
  'workers-busy': () => [byItself('A slot is free once a run of theirs ends.'), upAgain('Start another worker.')],
  leased: ({ run }) =>
    run.lease?.cancelRequestedAt == null
      ? [byItself('Its worker ends it.'), byHand('Ask its worker to end it.', 'run', 'cancel', run.id)]
      : [byItself('Its worker ends it, or its lease expires.', run.lease.expiresAt)],
  'lease-expired': ({ fleet }) =>
    fleet.live.length === 0
      ? [upAgain('Start a worker, which takes it back.')]
      : [byItself('A live worker takes it back.')],
  held: ({ schedule, waiting }) => [
    ...(waiting.until === null ? [] : [byItself('The pause ends by itself.', waiting.until)]),
    ...(schedule === null ? [] : [byHand('Resume its schedule.', 'schedule', 'resume', schedule.spec.name)]),
  ],
  parked: ({ run: { id } }) => [
    byHand('Give it its whole budget back, once its cause is mended.', 'run', 'reset', id),
    byHand('Or end it for good.', 'run', 'cancel', id),
  ],
  deadline: () => [byItself('It ends as skipped when a worker looks; then a retry makes a new run of it.')],
  paused: () => [byHand('Start everything again.')],
  'queue-paused': ({ run }) => [byHand('Resume the queue.', 'queue', 'resume', run.queue)],
  backoff: ({ waiting }) => [byItself('The next attempt may start.', waiting.until)],
  'not-before': ({ waiting }) => [byItself('It may start.', waiting.until)],
  overlap: (facts) => endOfHolder(facts),
  'blocked-by-cancel': ({ waiting: { holders } }) => [
    byItself('Its worker ends it, or its lease expires.', holders[0]?.leaseExpiresAt ?? null),
  ],
  'no-worker': ({ waiting: { takers } }) => [upAgain(`Start a worker that has ${takers.needs}.`)],
  'concurrency-ceiling': ({ run }) => [
    byItself('A slot is free once one of them ends.'),
    byHand(`Or raise maxConcurrent of queue ${run.queue}.`),
  ],
  'rate-limit': ({ waiting }) => [byItself('The rate lets it go.', waiting.until)],
  'key-ceiling': ({ run }) => [
    byItself('There is room once one of them ends.'),
    byHand(`Or raise maxConcurrentPerKey of queue ${run.queue}.`),
  ],
  'policy-unreadable': ({ run }) => [byHand(`Set the policy of queue ${run.queue} anew.`)],
  failed: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  cancelled: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  skipped: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
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
