import type { SkipReason } from '../../core/plan.ts'
import type { EndedStatus } from '../../core/run-state.ts'

/** Where a run stands, in one word: why it does not go, as the plan of the leases says it, or how it ended. */
export type RunCode =
  | Exclude<SkipReason, 'terminal'>
  | EndedStatus
  | 'holder-dead'
  | 'in-line'
  | 'workers-busy'
  | 'policy-unreadable'
  | 'pruned'

export interface CodeTold {
  readonly says: string
  readonly unblocks: string
}

/** Every code, with its sentence and what gets a run out of it. The one home of the list: docs/explain.md is held to it. */
export const runCodes: { readonly [Code in RunCode]: CodeTold } = {
  'in-line': {
    says: 'Nothing is in its way but the runs before it, where there are any.',
    unblocks: 'Nothing is needed.',
  },
  'workers-busy': {
    says: 'Every live worker that can execute it has all its slots taken.',
    unblocks: 'The end of a run on one of them, or another worker.',
  },
  leased: {
    says: 'A worker is at it.',
    unblocks: 'Its end. Cancelling asks the worker to end it.',
  },
  'holder-dead': {
    says: 'Its worker died while it was at work; another worker takes it back within seconds.',
    unblocks: 'A live worker takes it back by itself; where none is alive, start one.',
  },
  'lease-expired': {
    says: 'Its worker has not been heard of in time, and nobody has taken the lease back yet.',
    unblocks: 'A live worker takes it back by itself; where none is alive, start one.',
  },
  held: {
    says: 'Its schedule is paused, and nothing of it starts meanwhile.',
    unblocks: 'Resuming the schedule, or the end of the pause.',
  },
  parked: {
    says: 'It was set aside and waits for a person.',
    unblocks: 'Resetting it, once its cause is mended; cancelling it ends it for good.',
  },
  deadline: {
    says: 'The last instant at which it may start is over; it ends as skipped when a worker looks that can execute it.',
    unblocks:
      'Nothing brings it back: enqueue it anew, or retry it once it has ended. Where nobody can execute it, cancelling ends it.',
  },
  paused: {
    says: 'Everything is stopped: nothing is fired and nothing is leased.',
    unblocks: 'Starting everything again.',
  },
  'queue-paused': {
    says: 'Its queue is paused.',
    unblocks: 'Resuming the queue.',
  },
  backoff: {
    says: 'Its last attempt did not succeed, and it waits before the next one.',
    unblocks: 'The instant comes by itself.',
  },
  'not-before': {
    says: 'It must not start before an instant that has not come.',
    unblocks: 'The instant comes by itself.',
  },
  overlap: {
    says: 'Another run of its schedule has not ended, and they may not overlap.',
    unblocks: 'The end of that run.',
  },
  'blocked-by-cancel': {
    says: 'The run that it replaces has been asked to end, and has not ended yet.',
    unblocks: 'The end of that run.',
  },
  'no-worker': {
    says: 'No live worker can execute it and works for its queue.',
    unblocks:
      'A worker for its target and its queue: a program that registers its handler, or `belfry up` for commands and HTTP.',
  },
  'concurrency-ceiling': {
    says: 'Its queue has no slot for it: the ceiling is taken by the runs at work and those before it in line.',
    unblocks: 'The end of one of them, or a higher maxConcurrent.',
  },
  'rate-limit': {
    says: 'Its queue has started as many runs as its rate allows.',
    unblocks: 'The window of the rate moves on by itself.',
  },
  'key-ceiling': {
    says: 'As many runs with its concurrencyKey are at work, or before it in line, as may be.',
    unblocks: 'The end of one of them, or a higher maxConcurrentPerKey.',
  },
  'policy-unreadable': {
    says: 'What is stored as the policy of its queue cannot be read, so nothing is leased from it.',
    unblocks: 'Setting the policy of the queue anew.',
  },
  completed: {
    says: 'It ended well.',
    unblocks: 'Nothing is needed.',
  },
  failed: {
    says: 'It failed for good.',
    unblocks: 'A retry makes a new run of it.',
  },
  cancelled: {
    says: 'It was cancelled.',
    unblocks: 'A retry makes a new run of it.',
  },
  skipped: {
    says: 'It ended without being executed.',
    unblocks: 'A retry makes a new run of it.',
  },
  pruned: {
    says: 'Retention has removed the run; the history of its schedule still tells how it ended.',
    unblocks: 'Nothing brings it back.',
  },
}
