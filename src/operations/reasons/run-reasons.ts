import { formatDuration } from '../../core/duration.ts'
import { holdSentence } from '../../core/hold-reason.ts'
import { retriesIn } from '../../core/run/retries.ts'
import type { EndedStatus } from '../../core/run/run-state.ts'
import { noopReason } from '../../core/run/verdict.ts'
import { deathOf, wayToServe, workerName } from '../explain/fleet.ts'
import { byHand, byItself, type Unblock, waysOfHold } from '../explain/unblock.ts'
import { clause, plural } from '../explain/words.ts'
import type { WaitReason } from '../run/place-in-line.ts'
import type { Facts } from '../run/run-situation.ts'
import type { Reasons } from './catalogue.ts'

/** The state of a run in one word: why leasing passes it over, or how it ended. */
export type RunCode =
  | WaitReason
  | EndedStatus
  | 'holder-dead'
  | 'in-line'
  | 'workers-busy'
  | 'policy-unreadable'
  | 'pruned'

const takeBack = byHand('Start a worker, which reclaims it.', 'up')

/**
 * Why a run is in its state. Each code has a sentence about all such runs and what unblocks them. Where the facts allow more, it
 * also has the sentence and the ways out for a single run. Explain, docs/explain.md and the doors use this list; a test keeps
 * them equal.
 */
export const runReasons: Reasons<RunCode, Facts> = {
  'in-line': {
    says: 'Only runs before it in line, if any, must start first.',
    unblocks: 'Nothing to do.',
    tone: 'well',
    sentence: ({ waiting }) => {
      const { before, beforeIsAtLeast } = waiting
      if (beforeIsAtLeast) {
        const count = before === 0 ? 'more runs than were read' : `at least ${plural(before, 'run', 'runs')}`
        return `It is in line behind ${count}; whether there are slots for all of them and for it is not known.`
      }
      if (before === 0) return 'It is next in line: the next worker that leases gets it.'
      return `It is in line, and there are slots for it and for the ${before} before it.`
    },
  },
  'workers-busy': {
    says: 'Every live worker that can execute it has all its slots taken.',
    unblocks: 'A run on one of these workers ends, or another worker starts.',
    tone: 'waits',
    sentence: ({ waiting: { takers, beforeIsAtLeast } }) => {
      const busy = `${everyWorker(takers.able)} that has ${takers.needs} has all its slots taken.`
      return beforeIsAtLeast ? `It is in line, and ${busy}` : `Its queue has a free slot, but ${busy}`
    },
    ways: ({ run, fleet, waiting: { takers } }) => [
      byItself('A slot is free once one of their runs ends.'),
      { ...wayToServe(run, fleet), what: `Or start another worker that has ${takers.needs}.` },
    ],
  },
  leased: {
    says: 'A worker executes it.',
    unblocks: 'It ends. To end it sooner, cancel it: its worker is asked to stop.',
    tone: 'work',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'A worker'
      const asked =
        run.lease?.cancelRequestedAt == null ? '' : ` Its cancellation was requested${because(run.lease.cancelReason)}.`
      return `${worker} executes attempt ${run.fence}.${asked}`
    },
    ways: ({ run }) =>
      run.lease?.cancelRequestedAt == null
        ? [byItself('Its worker ends it.'), byHand('Cancel it: ask its worker to stop.', 'run', 'cancel', run.id)]
        : [byItself('Its worker ends it, or its lease expires.', run.lease.expiresAt)],
  },
  'holder-dead': {
    says: 'Its worker died during an attempt; another worker reclaims it within seconds.',
    unblocks: 'A live worker reclaims it; if none is alive, start one.',
    tone: 'wrong',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
      const asked =
        run.lease?.cancelRequestedAt == null ? '' : ' Its cancellation was requested, so it then ends as cancelled.'
      return `${worker} died during attempt ${run.fence}${takenBack(run, fleet)}.${asked}`
    },
    ways: ({ run, fleet }) => {
      if (fleet.live.length === 0) return [takeBack]
      if (deathOf(run.lease?.workerId, fleet)?.isSeen === true) {
        return [byItself('A live worker reclaims it within seconds.')]
      }
      return [byItself('A live worker reclaims it when its lease expires.', run.lease?.expiresAt ?? null)]
    },
  },
  'lease-expired': {
    says: 'Its lease has expired, and no worker has reclaimed it yet.',
    unblocks: 'A live worker reclaims it; if none is alive, start one.',
    tone: 'wrong',
    sentence: ({ run, fleet }) => {
      const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
      const then = fleet.live.length === 0 ? 'no worker is alive to reclaim it' : 'a live worker reclaims it soon'
      return `${worker} did not renew its lease in time; ${then}. It keeps its slot until then.`
    },
    ways: ({ fleet }) => (fleet.live.length === 0 ? [takeBack] : [byItself('A live worker reclaims it.')]),
  },
  held: {
    says: 'Its schedule is paused, so it does not start.',
    unblocks: 'The schedule is resumed, or the pause ends.',
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
    says: 'It is parked: it does not start until a person resets it.',
    unblocks: 'Reset it once the cause is fixed; cancelling ends it for good.',
    tone: 'wrong',
    sentence: ({ run }) => {
      const meant = parkedReasons[run.parked?.reason ?? '']
      return `It is parked and needs a person${because(run.parked?.reason ?? 'parked')}${meant === undefined ? '' : ` (${meant})`}.`
    },
    ways: ({ run: { id, parked } }) => (parked?.reason === 'missed' ? missedWays(id) : parkedWays(id)),
  },
  deadline: {
    says: 'The last instant at which it may start is over; a worker that can execute it ends it as skipped.',
    unblocks:
      'It cannot start any more: enqueue it again, or retry it once it has ended. If no worker can execute it, cancel it.',
    tone: 'waits',
    sentence: (facts) => {
      const { run, fleet } = facts
      const isOver = run.deadline !== null && run.deadline <= fleet.now
      const late = isOver ? 'Its deadline is over' : 'It is later than its schedule allows'
      return `${late}, so it does not start; ${skippedWhen(facts)}.`
    },
    ways: (facts) => {
      const { run, place, fleet, waiting } = facts
      const endIt = byHand('Or end it now; then a retry makes a new run of it.', 'run', 'cancel', run.id)
      if (place.hold !== null) return [...wayOn(facts), endIt]
      if (waiting.takers.able === 0) return [wayToServe(run, fleet), endIt]
      return [byItself('A worker ends it as skipped; then a retry makes a new run of it.')]
    },
  },
  'held-by': {
    says: 'A hold keeps it from starting: on the whole namespace, its queue, its kind of target, its schedule or its key.',
    unblocks: 'The hold ends or is lifted; resume a paused queue, start a stopped namespace again.',
    tone: 'waits',
    sentence: ({ place, reasons }) =>
      place.hold === null ? runReasons['held-by'].says : holdSentence(place.hold, reasons),
    ways: (facts) => wayOn(facts),
  },
  backoff: {
    says: 'Its last attempt failed, and it waits for its backoff to end.',
    unblocks: 'Nothing to do: the backoff ends by itself.',
    tone: 'waits',
    sentence: ({ run, place }) => {
      const max = retriesIn(run.options).maxAttempts ?? place.queue?.policy?.maxAttempts
      const left = max === undefined ? '' : ` It has used ${run.attempts} of ${plural(max, 'attempt', 'attempts')}.`
      return `Its last attempt failed, and it waits for its backoff to end.${left}`
    },
    ways: ({ run, waiting }) => [byItself('The next attempt may start.', waiting.until), whatItWrote(run.id)],
  },
  'not-before': {
    says: 'Its notBefore, or the instant that it was deferred to, is in the future.',
    unblocks: 'Nothing to do: the run may start at that instant.',
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
    says: 'Another run of its schedule has not ended; by the overlap rule this run waits.',
    unblocks: 'That run ends.',
    tone: 'waits',
    sentence: ({ waiting }) => `It waits for the end of ${runNames(waiting)}, another run of its schedule.`,
    ways: (facts) => endOfHolder(facts),
  },
  'blocked-by-cancel': {
    says: 'The run that it replaces was asked to stop, and has not ended yet.',
    unblocks: 'That run ends.',
    tone: 'waits',
    sentence: ({ waiting }) => `It replaces ${runNames(waiting)}, which was asked to stop and has not ended yet.`,
    ways: ({ waiting: { holders } }) => [
      byItself('Its worker ends it, or its lease expires.', holders[0]?.leaseExpiresAt ?? null),
    ],
  },
  'no-worker': {
    says: 'No live worker that works for its queue can execute it.',
    unblocks:
      'Start a worker for its target and its queue: a program that registers its handler, or `belfry up` for commands and HTTP.',
    tone: 'wrong',
    sentence: ({ run, waiting: { takers } }) => {
      // Work without a target waits for an outside host, not for a worker.
      return takers.live === 0 && run.target !== null
        ? `No worker is alive; it needs ${takers.needs}.`
        : takers.sentence
    },
    ways: ({ run, fleet }) => [wayToServe(run, fleet)],
  },
  'concurrency-ceiling': {
    says: 'Its queue has no free slot for it: runs at work and runs before it in line take all slots.',
    unblocks: 'One of these runs ends, or maxConcurrent is raised.',
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
      byItself('A slot is free once one of these runs ends.'),
      byHand(`Or raise maxConcurrent of queue ${run.queue}.`),
    ],
  },
  'rate-limit': {
    says: 'Its queue has started as many runs as its rate limit allows.',
    unblocks: 'The window of the rate limit moves on by itself.',
    tone: 'waits',
    sentence: ({ run, place, waiting }) => {
      const rate = place.window.policy.rateLimit
      if (rate === undefined) return runReasons['rate-limit'].says
      const starts = plural(rate.startsMax, 'start', 'starts')
      const ahead = waiting.before === 0 ? '' : `, and ${beforeIt(waiting)} before it in line`
      const isSpent = place.plan.leases.length === 0
      const used = isSpent ? 'has used its rate limit' : 'has a rate limit'
      return `Queue ${run.queue} ${used} of ${starts} in ${formatDuration(rate.perMs)}${ahead}.`
    },
    ways: ({ waiting }) => [byItself('The rate limit lets it start, at the earliest.', waiting.until)],
  },
  'key-ceiling': {
    says: 'Its concurrencyKey has no free slot for it: runs at work and runs before it in line take all slots.',
    unblocks: 'One of these runs ends, or maxConcurrentPerKey is raised.',
    tone: 'waits',
    sentence: ({ run, place, waiting }) => {
      const max = place.window.policy.maxConcurrentPerKey ?? 1
      const key = JSON.stringify(run.concurrencyKey)
      return `The key ${key} allows ${max} at a time, and these runs are at work or before it: ${runNames(waiting)}.`
    },
    ways: ({ run }) => [
      byItself('A slot under the key is free once one of these runs ends.'),
      byHand(`Or raise maxConcurrentPerKey of queue ${run.queue}.`),
    ],
  },
  'policy-unreadable': {
    says: 'The stored policy of its queue cannot be read, so no run is leased from it.',
    unblocks: 'Set the policy of the queue again.',
    tone: 'wrong',
    sentence: ({ run }) => policyUnreadable(run.queue).sentence,
    ways: ({ run }) => [policyUnreadable(run.queue).way],
  },
  completed: {
    says: 'It completed.',
    unblocks: 'Nothing to do.',
    tone: 'well',
    sentence: ({ run }) => {
      const tries = run.fence > 1 ? ` at attempt ${run.fence}` : ''
      const late = run.end?.reason === 'late-cancel' ? ', before the request to cancel it took effect' : ''
      const empty = run.end?.reason === noopReason ? ', and found nothing to do' : ''
      return `It completed${tries}${late}${empty}.`
    },
  },
  failed: {
    says: 'It failed for good.',
    unblocks: 'Retry it to make a new run.',
    tone: 'wrong',
    sentence: ({ run }) => `It failed for good${because(run.end?.reason)}.`,
    ways: ({ run }) => [whatItWrote(run.id), byHand('Make a new run of it.', 'run', 'retry', run.id)],
  },
  cancelled: {
    says: 'It was cancelled.',
    unblocks: 'Retry it to make a new run.',
    tone: 'waits',
    sentence: ({ run }) => `It was cancelled${because(run.end?.reason)}.`,
    ways: ({ run }) => [byHand('Make a new run of it.', 'run', 'retry', run.id)],
  },
  skipped: {
    says: 'It ended without being executed.',
    unblocks: 'Retry it to make a new run.',
    tone: 'waits',
    sentence: ({ run }) => {
      const meant = skipReasons[run.end?.reason ?? '']
      return `It ended without being executed${because(run.end?.reason)}${meant === undefined ? '' : ` (${meant})`}.`
    },
    ways: ({ run }) => [
      ...(run.end?.reason === 'when' ? [whatItWrote(run.id)] : []),
      byHand('Make a new run of it.', 'run', 'retry', run.id),
    ],
  },
  pruned: {
    says: 'Retention has removed the run; the history of its schedule still shows how it ended.',
    unblocks: 'It cannot be restored.',
    tone: 'waits',
  },
}

/** The same for every run and schedule of a queue whose policy cannot be read. */
export function policyUnreadable(queue: string): { readonly sentence: string; readonly way: Unblock } {
  return {
    sentence: `The stored policy of queue ${queue} cannot be read, so no run is leased from it.`,
    way: byHand(`Set the policy of queue ${queue} again.`, 'queue', 'set', queue, '--max-concurrent', '1'),
  }
}

const parkedReasons: Readonly<Record<string, string>> = {
  'effect-unknown': 'it is not known whether it was done, and it must not be done twice',
  missed: 'it came due while no worker ran, and is not started late without asking',
  poison: 'three workers died while they executed it',
}

const skipReasons: Readonly<Record<string, string>> = {
  lateness: 'it was later than its schedule allows',
  deadline: 'its deadline was over',
  when: 'its `when` guard said no',
}

function parkedWays(id: string): Unblock[] {
  return [
    whatItWrote(id),
    byHand('Reset it once the cause is fixed: it gets all its attempts back.', 'run', 'reset', id),
    byHand('Or end it for good.', 'run', 'cancel', id),
  ]
}

/** A missed prompt has written nothing, and nothing is to be fixed before it runs. */
function missedWays(id: string): Unblock[] {
  return [byHand('Run it now, however late it is.', 'missed', 'run', id), byHand('Or drop it.', 'missed', 'drop', id)]
}

function because(reason: string | null | undefined): string {
  return reason == null ? '' : `: ${clause(reason)}`
}

function takenBack({ lease }: Facts['run'], fleet: Facts['fleet']): string {
  if (fleet.live.length === 0) return ', and no worker is alive to reclaim it'
  return deathOf(lease?.workerId, fleet)?.isSeen === true
    ? '; another worker reclaims it within seconds'
    : '; workers on other machines reclaim it when its lease expires'
}

/** A worker skips late runs only among the runs that it can execute, and skips no held run. */
function skippedWhen({ place, waiting: { takers } }: Facts): string {
  if (place.hold !== null) return 'once the hold ends, a worker ends it as skipped'
  if (takers.able > 0) return 'a worker ends it as skipped'
  return `a worker that has ${takers.needs} would end it as skipped, and none is alive`
}

function everyWorker(able: number): string {
  return able === 1 ? 'the only live worker' : `each of the ${able} live workers`
}

function beforeIt({ before, beforeIsAtLeast }: Facts['waiting']): string {
  return `${beforeIsAtLeast ? 'at least ' : ''}${plural(before, 'run is', 'runs are')}`
}

/** The names of the blocking runs, and how many more there are. */
export function runNames({ holders, holdersCount }: Facts['waiting']): string {
  if (holders.length === 0) return 'a run that has just ended'
  const names = holders.map(({ run }) => run).join(', ')
  return holdersCount > holders.length ? `${names} and ${holdersCount - holders.length} more` : names
}

/** The output of an attempt is never part of an explanation: it may contain anything. */
export function whatItWrote(runId: string): Unblock {
  return byHand('Read its output.', 'run', 'output', runId)
}

/** What ends the hold that keeps a run from starting. */
function wayOn({ run, place: { hold }, reasons }: Facts): Unblock[] {
  if (hold === null) return []
  const isForced = reasons[hold.reason]?.isForced === true && run.schedule !== null
  const forced = isForced ? [byHand('Or run its schedule now.', 'schedule', 'run', run.schedule ?? '', '--force')] : []
  return [...waysOfHold(hold, reasons), ...forced]
}

function endOfHolder({ waiting: { holders } }: Facts): Unblock[] {
  const [first] = holders
  if (first === undefined) return [byItself('The next lease takes it in its turn.')]
  return [
    byItself(`${first.run} ends.`),
    byHand(`See why ${first.run} has not ended.`, 'explain', 'run', first.run),
    byHand('Or cancel that run.', 'run', 'cancel', first.run),
  ]
}
