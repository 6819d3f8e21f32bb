import { formatDuration } from '../../core/duration.ts'
import { holdSentence } from '../../core/hold-reason.ts'
import { retriesIn } from '../../core/run/retries.ts'
import type { EndedStatus } from '../../core/run/run-state.ts'
import { deathOf, wayToServe, workerName } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock, waysOfHold } from '../explain/unblock.ts'
import { clause, plural } from '../explain/words.ts'
import type { WaitReason } from '../run/place-in-line.ts'
import type { Facts } from '../run/run-situation.ts'
import type { Reasons } from './catalogue.ts'

/** Where a run stands, in one word: why it does not go, as the plan of the leases says it, or how it ended. */
export type RunCode =
  | WaitReason
  | EndedStatus
  | 'holder-dead'
  | 'in-line'
  | 'workers-busy'
  | 'policy-unreadable'
  | 'pruned'

const takeBack = byHand('Start a worker, which takes it back.', 'up')

/**
 * Why a run stands where it does: each code with the sentence about all such runs and what gets them on, and where facts make it exact,
 * the sentence and the ways about one run. Explain, docs/explain.md and the doors read it here; a test keeps them together.
 */
export const runReasons: Reasons<RunCode, Facts> = {
  'in-line': {
    says: 'Nothing is in its way but the runs before it, where there are any.',
    unblocks: 'Nothing is needed.',
    tone: 'well',
    sentence: ({ waiting }) => {
      const { before, beforeIsAtLeast } = waiting
      if (beforeIsAtLeast) {
        const count = before === 0 ? 'more runs than were looked at' : `at least ${plural(before, 'run', 'runs')}`
        return `It is in line behind ${count}; whether there is room for all of them and for it is not known.`
      }
      if (before === 0) return 'Nothing is in its way: the next worker that asks gets it.'
      return `It is in line, and there is room for it and for the ${before} before it.`
    },
  },
  'workers-busy': {
    says: 'Every live worker that can execute it has all its slots taken.',
    unblocks: 'The end of a run on one of them, or another worker.',
    tone: 'waits',
    sentence: ({ waiting: { takers, beforeIsAtLeast } }) => {
      const busy = `${everyWorker(takers.able)} that has ${takers.needs} has all its slots taken.`
      return beforeIsAtLeast ? `It is in line, and ${busy}` : `Its queue has room, but ${busy}`
    },
    ways: ({ run, fleet, waiting: { takers } }) => [
      byItself('A slot is free once a run of theirs ends.'),
      { ...wayToServe(run, fleet), what: `Or start another worker that has ${takers.needs}.` },
    ],
  },
  leased: {
    says: 'A worker is at it.',
    unblocks: 'Its end. Cancelling asks the worker to end it.',
    tone: 'work',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'A worker'
      const asked =
        run.lease?.cancelRequestedAt == null ? '' : ` It has been asked to end${because(run.lease.cancelReason)}.`
      return `${worker} is at attempt ${run.fence}.${asked}`
    },
    ways: ({ run }) =>
      run.lease?.cancelRequestedAt == null
        ? [byItself('Its worker ends it.'), byHand('Ask its worker to end it.', 'run', 'cancel', run.id)]
        : [byItself('Its worker ends it, or its lease expires.', run.lease.expiresAt)],
  },
  'holder-dead': {
    says: 'Its worker died while it was at work; another worker takes it back within seconds.',
    unblocks: 'A live worker takes it back by itself; where none is alive, start one.',
    tone: 'wrong',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
      const asked = run.lease?.cancelRequestedAt == null ? '' : ' It has been asked to end, and then ends as cancelled.'
      return `${worker} died while it was at attempt ${run.fence}${takenBack(run, fleet)}.${asked}`
    },
    ways: ({ run, fleet }) => {
      if (fleet.live.length === 0) return [takeBack]
      if (deathOf(run.lease?.workerId, fleet)?.isSeen === true) {
        return [byItself('A live worker takes it back within seconds.')]
      }
      return [byItself('A live worker takes it back when its lease expires.', run.lease?.expiresAt ?? null)]
    },
  },
  'lease-expired': {
    says: 'Its worker has not been heard of in time, and nobody has taken the lease back yet.',
    unblocks: 'A live worker takes it back by itself; where none is alive, start one.',
    tone: 'wrong',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
      const then =
        fleet.live.length === 0 ? 'and no worker is alive to take it back' : 'a live worker takes it back soon'
      return `${worker} did not renew its lease in time; ${then}. It keeps its slot until then.`
    },
    ways: ({ fleet }) => (fleet.live.length === 0 ? [takeBack] : [byItself('A live worker takes it back.')]),
  },
  held: {
    says: 'Its schedule is paused, and nothing of it starts meanwhile.',
    unblocks: 'Resuming the schedule, or the end of the pause.',
    tone: 'waits',
    sentence: ({ schedule }) => {
      const why = schedule?.disabled?.reason ?? schedule?.paused?.reason
      return `Its schedule ${schedule?.spec.name ?? ''} is paused${because(why)}.`
    },
    ways: ({ schedule, waiting }) => [
      ...(waiting.until === null ? [] : [byItself('The pause ends by itself.', waiting.until)]),
      ...(schedule === null ? [] : [byHand('Resume its schedule.', 'schedule', 'resume', schedule.spec.name)]),
    ],
  },
  parked: {
    says: 'It was set aside and waits for a person.',
    unblocks: 'Resetting it, once its cause is mended; cancelling it ends it for good.',
    tone: 'wrong',
    sentence: ({ run }) => {
      const meant = parkedReasons[run.parked?.reason ?? '']
      return `It was set aside and waits for a person${because(run.parked?.reason ?? 'parked')}${meant === undefined ? '' : ` (${meant})`}.`
    },
    ways: ({ run: { id } }) => [
      whatItWrote(id),
      byHand('Give it its whole budget back, once its cause is mended.', 'run', 'reset', id),
      byHand('Or end it for good.', 'run', 'cancel', id),
    ],
  },
  deadline: {
    says: 'The last instant at which it may start is over; it ends as skipped when a worker looks that can execute it.',
    unblocks:
      'Nothing brings it back: enqueue it anew, or retry it once it has ended. Where nobody can execute it, cancelling ends it.',
    tone: 'waits',
    sentence: (facts) => {
      const { run, fleet } = facts
      const isOver = run.deadline !== null && run.deadline <= fleet.now
      const late = isOver ? 'Its deadline is over' : 'It is later than its schedule allows'
      return `${late}, so it does not start any more; ${skippedWhen(facts)}.`
    },
    ways: (facts) => {
      const { run, place, fleet, waiting } = facts
      const endIt = byHand('Or end it now; then a retry makes a new run of it.', 'run', 'cancel', run.id)
      if (place.hold !== null) return [...wayOn(facts), endIt]
      if (waiting.takers.able === 0) return [wayToServe(run, fleet), endIt]
      return [byItself('It ends as skipped when a worker looks; then a retry makes a new run of it.')]
    },
  },
  'held-by': {
    says: 'A hold keeps it from starting: on the whole namespace, its queue, its kind of target, its schedule or its key.',
    unblocks: 'The end of the hold, or lifting it; a paused queue is resumed, a stopped namespace started again.',
    tone: 'waits',
    sentence: ({ place, reasons }) =>
      place.hold === null ? runReasons['held-by'].says : holdSentence(place.hold, reasons),
    ways: (facts) => wayOn(facts),
  },
  backoff: {
    says: 'Its last attempt did not succeed, and it waits before the next one.',
    unblocks: 'The instant comes by itself.',
    tone: 'waits',
    sentence: ({ run, place }) => {
      const max = retriesIn(run.options).maxAttempts ?? place.queue?.policy?.maxAttempts
      const left = max === undefined ? '' : ` It has used ${run.attempts} of ${plural(max, 'attempt', 'attempts')}.`
      return `Its last attempt did not succeed, and it waits before the next one.${left}`
    },
    ways: ({ run, waiting }) => [byItself('The next attempt may start.', waiting.until), whatItWrote(run.id)],
  },
  'not-before': {
    says: 'It must not start before an instant that has not come.',
    unblocks: 'The instant comes by itself.',
    tone: 'waits',
    sentence: ({ run }) => {
      const [, why] = /^deferred: (.*)$/s.exec(run.waiting?.reason ?? '') ?? []
      return why === undefined
        ? runReasons['not-before'].says
        : `It was deferred, which uses no attempt${because(why)}.`
    },
    ways: ({ waiting }) => [byItself('It may start.', waiting.until)],
  },
  overlap: {
    says: 'Another run of its schedule has not ended, and they may not overlap.',
    unblocks: 'The end of that run.',
    tone: 'waits',
    sentence: ({ waiting }) => `It waits for the end of ${runNames(waiting)}, another run of its schedule.`,
    ways: (facts) => endOfHolder(facts),
  },
  'blocked-by-cancel': {
    says: 'The run that it replaces has been asked to end, and has not ended yet.',
    unblocks: 'The end of that run.',
    tone: 'waits',
    sentence: ({ waiting }) => `It replaces ${runNames(waiting)}, which was asked to end and has not yet.`,
    ways: ({ waiting: { holders } }) => [
      byItself('Its worker ends it, or its lease expires.', holders[0]?.leaseExpiresAt ?? null),
    ],
  },
  'no-worker': {
    says: 'No live worker can execute it and works for its queue.',
    unblocks:
      'A worker for its target and its queue: a program that registers its handler, or `belfry up` for commands and HTTP.',
    tone: 'wrong',
    sentence: ({ run, waiting: { takers } }) => {
      // Work without a target waits for no worker, alive or not.
      return takers.live === 0 && run.target !== null
        ? `No worker is alive; it needs ${takers.needs}.`
        : takers.sentence
    },
    ways: ({ run, fleet }) => [wayToServe(run, fleet)],
  },
  'concurrency-ceiling': {
    says: 'Its queue has no slot for it: the ceiling is taken by the runs at work and those before it in line.',
    unblocks: 'The end of one of them, or a higher maxConcurrent.',
    tone: 'waits',
    sentence: ({ run, place, waiting }) => {
      const { inFlight } = place.plan
      const max = place.window.policy.maxConcurrent
      const ahead = waiting.before === 0 ? '' : `, and ${beforeIt(waiting)} before it in line`
      if (inFlight >= max) {
        const held = inFlight === 0 ? '' : ` (${runNames(waiting)})`
        return `Queue ${run.queue} is at its ceiling: ${inFlight} of ${max} at work${held}${ahead}.`
      }
      const free = plural(max - inFlight, 'slot', 'slots')
      return `Queue ${run.queue} has ${free} free of ${max}, and ${beforeIt(waiting)} before it in line.`
    },
    ways: ({ run }) => [
      byItself('A slot is free once one of them ends.'),
      byHand(`Or raise maxConcurrent of queue ${run.queue}.`),
    ],
  },
  'rate-limit': {
    says: 'Its queue has started as many runs as its rate allows.',
    unblocks: 'The window of the rate moves on by itself.',
    tone: 'waits',
    sentence: ({ run, place, waiting }) => {
      const rate = place.window.policy.rateLimit
      if (rate === undefined) return runReasons['rate-limit'].says
      const starts = plural(rate.startsMax, 'start', 'starts')
      const ahead = waiting.before === 0 ? '' : `, and ${beforeIt(waiting)} before it in line`
      const isSpent = place.plan.leases.length === 0
      const used = isSpent ? 'has used its rate' : 'has a rate'
      return `Queue ${run.queue} ${used} of ${starts} in ${formatDuration(rate.perMs)}${ahead}.`
    },
    ways: ({ waiting }) => [byItself('The rate lets it go at its place, at the earliest.', waiting.until)],
  },
  'key-ceiling': {
    says: 'As many runs with its concurrencyKey are at work, or before it in line, as may be.',
    unblocks: 'The end of one of them, or a higher maxConcurrentPerKey.',
    tone: 'waits',
    sentence: ({ run, place, waiting }) => {
      const max = place.window.policy.maxConcurrentPerKey ?? 1
      const key = JSON.stringify(run.concurrencyKey)
      return `As many runs with the key ${key} as may be, ${max}, are at work or before it: ${runNames(waiting)}.`
    },
    ways: ({ run }) => [
      byItself('There is room once one of them ends.'),
      byHand(`Or raise maxConcurrentPerKey of queue ${run.queue}.`),
    ],
  },
  'policy-unreadable': {
    says: 'What is stored as the policy of its queue cannot be read, so nothing is leased from it.',
    unblocks: 'Setting the policy of the queue anew.',
    tone: 'wrong',
    sentence: ({ run }) => policyUnreadable(run.queue).sentence,
    ways: ({ run }) => [policyUnreadable(run.queue).way],
  },
  completed: {
    says: 'It ended well.',
    unblocks: 'Nothing is needed.',
    tone: 'well',
    sentence: ({ run }) => {
      const tries = run.fence > 1 ? ` at attempt ${run.fence}` : ''
      const late = run.end?.reason === 'late-cancel' ? ', before the request to cancel it took effect' : ''
      return `It ended well${tries}${late}.`
    },
  },
  failed: {
    says: 'It failed for good.',
    unblocks: 'A retry makes a new run of it.',
    tone: 'wrong',
    sentence: ({ run }) => `It failed for good${because(run.end?.reason)}.`,
    ways: ({ run }) => [whatItWrote(run.id), byHand('Make a new run of it.', 'run', 'retry', run.id)],
  },
  cancelled: {
    says: 'It was cancelled.',
    unblocks: 'A retry makes a new run of it.',
    tone: 'waits',
    sentence: ({ run }) => `It was cancelled${because(run.end?.reason)}.`,
    ways: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  },
  skipped: {
    says: 'It ended without being executed.',
    unblocks: 'A retry makes a new run of it.',
    tone: 'waits',
    sentence: ({ run }) => {
      const meant = skipReasons[run.end?.reason ?? '']
      return `It ended without being executed${because(run.end?.reason)}${meant === undefined ? '' : ` (${meant})`}.`
    },
    ways: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  },
  pruned: {
    says: 'Retention has removed the run; the history of its schedule still tells how it ended.',
    unblocks: 'Nothing brings it back.',
    tone: 'waits',
  },
}

/** What is said of a queue whose policy cannot be read, wherever it is met. */
export function policyUnreadable(queue: string): { readonly sentence: string; readonly way: Unblock } {
  return {
    sentence: `The stored policy of queue ${queue} cannot be read, so nothing is leased from it.`,
    way: byHand(`Set the policy of queue ${queue} anew.`, 'queue', 'set', queue, '--max-concurrent', '1'),
  }
}

const parkedReasons: Readonly<Record<string, string>> = {
  'effect-unknown': 'nobody knows whether it was done, and it must not be done twice',
  poison: 'three workers died while they were at it',
}

const skipReasons: Readonly<Record<string, string>> = {
  lateness: 'it was later than its schedule allows',
  deadline: 'its deadline was over',
}

function because(reason: string | null | undefined): string {
  return reason == null ? '' : `: ${clause(reason)}`
}

function takenBack({ lease }: Facts['run'], fleet: Facts['fleet']): string {
  if (fleet.live.length === 0) return ', and no worker is alive to take it back'
  return deathOf(lease?.workerId, fleet)?.isSeen === true
    ? '; another worker takes it back within seconds'
    : '; workers of other machines take it back when its lease expires'
}

/** A worker that cannot execute a run does not look at it either, and none looks at what is held. */
function skippedWhen({ place, waiting: { takers } }: Facts): string {
  if (place.hold !== null) return 'it ends as skipped once the hold on it ends and a worker looks'
  if (takers.able > 0) return 'it ends as skipped when a worker looks'
  return `it would end as skipped when a worker looks that has ${takers.needs}, and none is alive`
}

function everyWorker(able: number): string {
  return able === 1 ? 'the only live worker' : `each of the ${able} live workers`
}

function beforeIt({ before, beforeIsAtLeast }: Facts['waiting']): string {
  return `${beforeIsAtLeast ? 'at least ' : ''}${plural(before, 'run is', 'runs are')}`
}

/** The runs in the way by name, and how many more there are. */
export function runNames({ holders, holdersCount }: Facts['waiting']): string {
  if (holders.length === 0) return 'a run that has just ended'
  const names = holders.map(({ run }) => run).join(', ')
  return holdersCount > holders.length ? `${names} and ${holdersCount - holders.length} more` : names
}

/** What an attempt put out is never part of an explanation: nobody knows what is in it. */
export function whatItWrote(runId: string): Unblock {
  return byHand('See what it wrote.', 'run', 'output', runId)
}

/** What ends the hold that keeps a run. */
function wayOn({ place: { hold }, reasons }: Facts): Unblock[] {
  return hold === null ? [] : waysOfHold(hold, reasons)
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
