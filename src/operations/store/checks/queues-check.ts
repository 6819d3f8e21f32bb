import { canExecute, type TargetNeed } from '../../../core/queue/plan-leases.ts'
import type { LaneBeyond } from '../../../store/health-views.ts'
import { listQueues } from '../../../store/reads/find-queue.ts'
import { lanesBeyond } from '../../../store/reads/health/lanes-beyond.ts'
import type { QueueView } from '../../../store/views.ts'
import { takersAmong, wayToMeet } from '../../explain/fleet.ts'
import { about, clause } from '../../explain/words.ts'
import { policyUnreadable } from '../../reasons/run-reasons.ts'
import { belfryCommand } from '../../shell-words.ts'
import type { Finding } from '../diagnosis.ts'
import { counted, countedAtLeast, type HealthCheck, nextOf, note, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

const lanesLimit = 1_000

export const queues: HealthCheck = {
  check: 'queues',
  codes: ['held-by', 'policy-unreadable', 'stopped'],
  says: 'Whether runs can be leased from every queue. Wrong: a policy cannot be read, so no run is leased from that queue. Noted: a queue is paused. A queue at its ceiling is normal.',
  unblocks: 'Paused: `belfry queue resume`. Unreadable: `belfry queue set` with the whole policy.',
  async look({ store, now }) {
    const all = await store.look(listQueues)
    const findings = all.flatMap((queue) => ofQueue(queue, now))
    const says = `${counted(all.length, 'queue')}${findings.length === 0 ? ', and none of them is paused' : ', not all of which go'}.`
    return { says, findings }
  },
}

function ofQueue({ name, policy, paused }: QueueView, now: number): Finding[] {
  const findings: Finding[] = []
  if (policy === null) {
    const { sentence, way } = policyUnreadable(name)
    findings.push(wrong(name, sentence, nextOf(way)))
  }
  if (paused !== null) {
    const says = `Queue ${name} has been paused for ${about(Math.max(0, now - paused.at))}: ${clause(paused.reason)}.`
    findings.push(note(name, says, belfryCommand('queue', 'resume', name)))
  }
  return findings
}

export const noWorker: HealthCheck = {
  check: 'no-worker',
  codes: ['no-worker'],
  says: 'Ready runs that no live worker can execute, by queue and by what they need. Wrong; noted for runs without a target, which outside hosts lease through a door. A run whose backoff or notBefore is over is ready.',
  unblocks: 'Start `belfry up`, or the program that registers the handler with `belfry.handle(…)`; or cancel the runs.',
  async look(inspection) {
    // Some workers serve only some queues, so a worker for all queues is not enough to decide.
    const asked = await inspection.store.look(lanesBeyond, inspection.canAnywhere, lanesLimit)
    const lanes = asked.filter((lane) => takersAmong(needOf(lane), lane.queue, inspection.live).length === 0)
    if (lanes.length > 0) {
      const findings = lanes.map((lane) => ofLane(lane, inspection))
      return { says: 'There are ready runs that no live worker can execute.', findings }
    }
    const some = asked.length === lanesLimit ? ` that was checked` : ''
    return { says: `Every ready run${some} has a live worker that can execute it.` }
  },
}

function needOf({ kind, name }: LaneBeyond): TargetNeed | null {
  return kind === null ? null : { kind, ...(name !== null && { name }) }
}

function ofLane(lane: LaneBeyond, inspection: Inspection): Finding {
  const { queue, kind, name, count, countIsAtLeast } = lane
  const [is, needs] = count === 1 ? ['is', 'needs'] : ['are', 'need']
  const runs = `In queue ${queue} ${countedAtLeast(count, countIsAtLeast, 'run')}`
  const see = `See them: ${belfryCommand('run', 'list', '--status', 'ready', '--queue', queue)}`
  if (kind === null) {
    const says = `${runs} without a target ${is} ready for outside hosts, which lease through a door.`
    const lease = belfryCommand('sched', 'lease', 'HOST', '--queue', queue)
    return note(
      queue,
      says,
      `Lease them as an outside host: ${lease}. Or enqueue them again with a target, and cancel these. ${see}`,
    )
  }
  const need = name === null ? `a worker for ${kind} targets` : `the ${kind} ${JSON.stringify(name)}`
  const whom = canExecute(needOf(lane), inspection.can) ? ' for that queue' : ''
  const says = `${runs} ${is} ready and ${needs} ${need}, which no live worker has${whom}.`
  const way = nextOf(wayToMeet(needOf(lane), queue, inspection))
  return wrong(name ?? kind, says, name === null ? way : `${way} ${see}`)
}
