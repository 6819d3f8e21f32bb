import { formatDuration } from '../../core/duration.ts'
import { retriesIn } from '../../core/retries.ts'
import { deathOf, workerName } from '../explain/fleet.ts'
import { clause, plural } from '../explain/words.ts'
import type { Facts } from './standing.ts'
import { type RunCode, runCodes } from './standing-codes.ts'

/** The sentence about this run: what the code says of all runs, with the names it is about. Instants stand beside it. */
export function sentenceOf(code: RunCode, facts: Facts): string {
  return words[code]?.(facts) ?? runCodes[code].says
}

const words: { readonly [Code in RunCode]?: (facts: Facts) => string } = {
  'in-line': ({ waiting }) => {
    const { before, beforeIsAtLeast } = waiting
    if (beforeIsAtLeast) {
      const count = before === 0 ? 'more runs than were looked at' : `at least ${plural(before, 'run', 'runs')}`
      return `It is in line behind ${count}; whether there is room for all of them and for it is not known.`
    }
    if (before === 0) return 'Nothing is in its way: the next worker that asks gets it.'
    return `It is in line, and there is room for it and for the ${before} before it.`
  },
  'workers-busy': ({ waiting: { takers, beforeIsAtLeast } }) => {
    const busy = `${everyWorker(takers.able)} that has ${takers.needs} has all its slots taken.`
    return beforeIsAtLeast ? `It is in line, and ${busy}` : `Its queue has room, but ${busy}`
  },
  leased: ({ run, fleet }) => {
    const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'A worker'
    const asked =
      run.lease?.cancelRequestedAt == null ? '' : ` It has been asked to end${because(run.lease.cancelReason)}.`
    return `${worker} is at attempt ${run.fence}.${asked}`
  },
  'holder-dead': ({ run, fleet }) => {
    const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
    const asked = run.lease?.cancelRequestedAt == null ? '' : ' It has been asked to end, and then ends as cancelled.'
    return `${worker} died while it was at attempt ${run.fence}${takenBack(run, fleet)}.${asked}`
  },
  'lease-expired': ({ run, fleet }) => {
    const worker = workerName(run.lease?.workerId ?? null, fleet) ?? 'Its worker'
    const then = fleet.live.length === 0 ? 'and no worker is alive to take it back' : 'a live worker takes it back soon'
    return `${worker} did not renew its lease in time; ${then}. It keeps its slot until then.`
  },
  held: ({ schedule }) => {
    const why = schedule?.disabled?.reason ?? schedule?.paused?.reason
    return `Its schedule ${schedule?.spec.name ?? ''} is paused${because(why)}.`
  },
  parked: ({ run }) => {
    const meant = parkedReasons[run.parked?.reason ?? '']
    return `It was set aside and waits for a person${because(run.parked?.reason ?? 'parked')}${meant === undefined ? '' : ` (${meant})`}.`
  },
  deadline: (facts) => {
    const { run, fleet } = facts
    const isOver = run.deadline !== null && run.deadline <= fleet.now
    const late = isOver ? 'Its deadline is over' : 'It is later than its schedule allows'
    return `${late}, so it does not start any more; ${skippedWhen(facts)}.`
  },
  'queue-paused': ({ run, place }) => {
    return `Its queue ${run.queue} is paused${because(place.queue?.paused?.reason)}.`
  },
  backoff: ({ run, place }) => {
    const max = retriesIn(run.options).maxAttempts ?? place.queue?.policy?.maxAttempts
    const left = max === undefined ? '' : ` It has used ${run.attempts} of ${plural(max, 'attempt', 'attempts')}.`
    return `Its last attempt did not succeed, and it waits before the next one.${left}`
  },
  overlap: ({ waiting }) => `It waits for the end of ${runNames(waiting)}, another run of its schedule.`,
  'blocked-by-cancel': ({ waiting }) => `It replaces ${runNames(waiting)}, which was asked to end and has not yet.`,
  'no-worker': ({ run, waiting: { takers } }) => {
    // Work without a target waits for no worker, alive or not.
    return takers.live === 0 && run.target !== null ? `No worker is alive; it needs ${takers.needs}.` : takers.sentence
  },
  'concurrency-ceiling': ({ run, place, waiting }) => {
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
  'rate-limit': ({ run, place, waiting }) => {
    const rate = place.window.policy.rateLimit
    if (rate === undefined) return runCodes['rate-limit'].says
    const starts = plural(rate.startsMax, 'start', 'starts')
    const ahead = waiting.before === 0 ? '' : `, and ${beforeIt(waiting)} before it in line`
    const isSpent = place.plan.leases.length === 0
    const used = isSpent ? 'has used its rate' : 'has a rate'
    return `Queue ${run.queue} ${used} of ${starts} in ${formatDuration(rate.perMs)}${ahead}.`
  },
  'key-ceiling': ({ run, place, waiting }) => {
    const max = place.window.policy.maxConcurrentPerKey ?? 1
    const key = JSON.stringify(run.concurrencyKey)
    return `As many runs with the key ${key} as may be, ${max}, are at work or before it: ${runNames(waiting)}.`
  },
  'policy-unreadable': ({ run }) =>
    `The stored policy of queue ${run.queue} cannot be read, so nothing is leased from it.`,
  completed: ({ run }) => {
    const tries = run.fence > 1 ? ` at attempt ${run.fence}` : ''
    const late = run.end?.reason === 'late-cancel' ? ', before the request to cancel it took effect' : ''
    return `It ended well${tries}${late}.`
  },
  failed: ({ run }) => `It failed for good${because(run.end?.reason)}.`,
  cancelled: ({ run }) => `It was cancelled${because(run.end?.reason)}.`,
  skipped: ({ run }) => {
    const meant = skipReasons[run.end?.reason ?? '']
    return `It ended without being executed${because(run.end?.reason)}${meant === undefined ? '' : ` (${meant})`}.`
  },
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

/** Whoever cannot execute a run does not look at it either, and nobody looks into a line that is stopped. */
function skippedWhen({ place, waiting: { takers } }: Facts): string {
  if (isStopped(place)) return 'it ends as skipped once its queue goes on and a worker looks'
  if (takers.able > 0) return 'it ends as skipped when a worker looks'
  return `it would end as skipped when a worker looks that has ${takers.needs}, and none is alive`
}

/** Nothing of its queue is handed out. */
export function isStopped({ window: { paused, queuePaused } }: Facts['place']): boolean {
  return paused || queuePaused
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
