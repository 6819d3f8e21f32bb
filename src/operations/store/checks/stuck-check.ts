import { formatDuration } from '../../../core/duration.ts'
import { canExecute, type PlannedRun } from '../../../core/queue/plan-leases.ts'
import type { ParkedRuns, TroubledLease } from '../../../store/health-views.ts'
import { listQueues, workAhead } from '../../../store/reads/find-queue.ts'
import { parkedRuns } from '../../../store/reads/health/parked-runs.ts'
import { troubledLeases } from '../../../store/reads/health/troubled-leases.ts'
import { planInput } from '../../../store/reads/plan-input.ts'
import type { WorkerView } from '../../../store/views.ts'
import { needWords } from '../../explain/fleet.ts'
import { about } from '../../explain/words.ts'
import { belfryCommand } from '../../shell-words.ts'
import { isHere } from '../../worker/worker-alive.ts'
import type { Finding } from '../diagnosis.ts'
import { countedAtLeast, fixCommand, fixed, type HealthCheck, note, upCommand, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

const longMs = 60 * 60_000
const cancelMs = 5 * 60_000
/** A worker reclaims expired leases every few seconds. */
const graceMs = 60_000
/** A lease that expired longer ago than this will not be reclaimed by a worker, even if one is alive. */
const overdueMs = 5 * 60_000
const limit = 1_000
const parkedLimit = 200
const reclaimLimit = 500
const queuesLookedAt = 100
const runsLookedAt = 1_000

export const stuck: HealthCheck = {
  check: 'stuck',
  codes: ['lease-expired', 'holder-dead', 'deadline', 'parked'],
  says: 'Whether runs are stuck. Wrong: a lease has expired and was not reclaimed (at once when no worker is alive, else after 1 min); or runs are too late to start, and no live worker can end them as skipped. Noted: runs at work for over 1 h, cancellations requested over 5 min ago, and parked runs.',
  unblocks:
    'Expired: run `belfry up` or `belfry doctor --fix`. Too late: start a worker that can execute them, or `belfry run cancel`. At work for long: give its target a timeout, or `belfry run cancel`. Parked: `belfry explain run`, then `belfry run reset`.',
  mends:
    'Reclaims expired leases as a worker would, when no worker is alive or they expired over 5 min ago. It never reclaims a lease whose process still runs on this machine, a lease of another namespace, or any lease after the clock was set back.',
  async look(inspection) {
    const { store, now } = inspection
    const leases = await store.look(troubledLeases, { longMs, cancelMs, limit })
    const parked = await store.look(parkedRuns, parkedLimit)
    const findings = [
      ...leases.flatMap((lease) => ofLease(lease, inspection)),
      ...(await tooLate(inspection)),
      ...parked.map((runs) => ofParked(runs, now)),
    ]
    return { says: findings.length === 0 ? 'No run is stuck.' : 'Some runs are stuck.', findings }
  },
  async mend(inspection) {
    const { store, now } = inspection
    const troubled = await store.look(troubledLeases, { longMs, cancelMs, limit })
    const abandoned = abandonedAmong(
      troubled.filter(({ expiresAt }) => expiresAt <= now),
      inspection,
    )
    if (abandoned.length === 0) return []
    // Only these leases were checked: the holder of another expired lease may be alive, or belong to another namespace.
    const judged = abandoned.slice(0, reclaimLimit).map(({ runId }) => runId)
    const taken = await store.reclaim({ expired: judged, limit: judged.length })
    const reclaimed = new Map(taken.map((one) => [`${one.runId} ${one.fence}`, one]))
    return abandoned.flatMap((lease) => {
      const taken = reclaimed.get(`${lease.runId} ${lease.fence}`)
      if (taken === undefined) return []
      const { status, reason } = taken
      return [fixed(expiry(lease, inspection), `Its lease was reclaimed; the run is now ${status} (${reason}).`)]
    })
  },
}

/** A worker that was suspended may still end its run, so this leaves expired leases to the workers first, and to any holder whose process is alive. After the clock was set back it is not known which leases have expired. */
function abandonedAmong(expired: readonly TroubledLease[], inspection: Inspection): readonly TroubledLease[] {
  const { now, live, workers } = inspection
  const wasSetBack = workers.some(({ beatAt }) => beatAt > now)
  if (wasSetBack) return []
  const left = expired.filter((lease) => !isHeldHere(lease, inspection))
  return live.length === 0 ? left : left.filter(({ expiresAt }) => now - expiresAt >= overdueMs)
}

function isHeldHere(lease: TroubledLease, inspection: Inspection): boolean {
  const holder = holderOf(lease, inspection)
  return holder !== undefined && isHere(holder)
}

function holderOf({ workerId }: TroubledLease, { workers }: Inspection): WorkerView | undefined {
  return workers.find(({ id }) => id === workerId)
}

function ofLease(lease: TroubledLease, inspection: Inspection): Finding[] {
  const { runId, workerId, leasedAt, expiresAt, cancelRequestedAt } = lease
  const { now, live } = inspection
  const findings: Finding[] = []
  if (now - expiresAt >= (live.length === 0 ? 0 : graceMs)) findings.push(expiry(lease, inspection))
  else if (now - leasedAt >= longMs) {
    const says = `Run ${runId} has been at work for ${about(now - leasedAt)}, with worker ${workerId}.`
    findings.push(note(runId, says, `If that is too long: ${belfryCommand('run', 'cancel', runId)}`))
  }
  if (cancelRequestedAt !== null && now - cancelRequestedAt >= cancelMs) {
    const says = `Cancellation of run ${runId} was requested ${about(now - cancelRequestedAt)} ago, and worker ${workerId} has not ended it.`
    findings.push(note(runId, says, `Stop worker ${workerId}; when its lease expires, the run ends as cancelled.`))
  }
  return findings
}

function expiry(lease: TroubledLease, inspection: Inspection): Finding {
  const { runId, workerId, expiresAt } = lease
  const says = `The lease of run ${runId} expired ${about(inspection.now - expiresAt)} ago, and no worker has reclaimed it.`
  if (isHeldHere(lease, inspection)) {
    return wrong(runId, says, `Check worker ${workerId}: its process still runs on this machine, and may be suspended.`)
  }
  if (inspection.live.length === 0) return wrong(runId, says, `${upCommand}, or ${fixCommand}`)
  return wrong(runId, says, `Read the log of a worker; after ${formatDuration(overdueMs)}: ${fixCommand}`)
}

/** A worker skips late runs only among those it can execute. */
async function tooLate(inspection: Inspection): Promise<Finding[]> {
  const { store } = inspection
  const { queues } = await store.look(workAhead)
  const readable = new Set(
    (await store.look(listQueues)).flatMap(({ name, policy }) => (policy === null ? [] : [name])),
  )
  const findings: Finding[] = []
  for (const queue of queues.filter((name) => readable.has(name)).slice(0, queuesLookedAt)) {
    const { now, runs } = await store.look(planInput, queue, runsLookedAt)
    const late = runs.filter(({ status, deadline, target }) => {
      return status === 'ready' && deadline != null && deadline <= now && !canExecute(target, inspection.canIn(queue))
    })
    const needs = new Set(late.map(({ target }) => JSON.stringify(target)))
    for (const need of needs) {
      const lane = late.filter(({ target }) => JSON.stringify(target) === need)
      findings.push(ofLate(queue, lane, inspection))
    }
  }
  return findings
}

function ofLate(queue: string, late: readonly PlannedRun[], { can }: Inspection): Finding {
  const { id = '', target = null } = late[0] ?? {}
  const runs = late.length === 1 ? '1 run is' : `${late.length} runs are`
  const whom = canExecute(target, can) ? ' that works for that queue' : ''
  const who = target === null ? 'no outside host leases from it' : `no live worker${whom} has ${needWords(target)}`
  const says = `In queue ${queue} ${runs} too late to start and cannot end as skipped, because ${who}.`
  return wrong(id, says, `End ${late.length === 1 ? 'it' : 'each of them'}: ${belfryCommand('run', 'cancel', id)}`)
}

function ofParked({ queue, reason, count, countIsAtLeast, oldest }: ParkedRuns, now: number): Finding {
  const since = `the oldest for ${about(Math.max(0, now - oldest.at))}`
  const runs = countedAtLeast(count, countIsAtLeast, 'run')
  const says = `${runs} of queue ${queue} ${count === 1 ? 'is' : 'are'} parked with the reason ${reason}, ${since}.`
  const next = `${belfryCommand('explain', 'run', oldest.runId)}, then ${belfryCommand('run', 'reset', oldest.runId)}`
  return note(oldest.runId, `${says.slice(0, 1).toUpperCase()}${says.slice(1)}`, next)
}
