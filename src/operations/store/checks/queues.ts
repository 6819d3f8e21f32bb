import { canExecute, type TargetNeed } from '../../../core/plan.ts'
import type { LaneBeyond, StoreCondition } from '../../../store/health.ts'
import { lanesBeyond } from '../../../store/reads/health/lanes.ts'
import { listQueues } from '../../../store/reads/queue.ts'
import type { QueueView } from '../../../store/view.ts'
import { takersAmong, wayToMeet } from '../../explain/fleet.ts'
import { about, clause } from '../../explain/words.ts'
import { belfryCommand } from '../../shell-words.ts'
import { counted, countedAtLeast, type Examination, nextOf, note, wrong } from '../examination.ts'
import type { Finding } from '../output.ts'
import type { Patient } from '../patient.ts'

const lanesLimit = 1_000

export const queues: Examination = {
  check: 'queues',
  means:
    'Whether queues hand out their runs. Wrong when a policy cannot be read: nothing of that queue goes then. Noted when a queue, or all there is, has been paused. A queue at its ceiling is as it should be.',
  next: 'Paused: `belfry queue resume`. Unreadable: `belfry queue set` with all that is to hold.',
  async look({ store, condition, now }) {
    const all = await store.look(listQueues)
    const findings = [...stop(condition, now), ...all.flatMap((queue) => ofQueue(queue, now))]
    const says = `${counted(all.length, 'queue')}${findings.length === 0 ? ', and none of them is stopped' : ', not all of which go'}.`
    return { says, findings }
  },
}

function stop({ stopped }: StoreCondition, now: number): Finding[] {
  if (stopped === null) return []
  const says = `Everything has been stopped for ${about(Math.max(0, now - stopped.at))}: ${clause(stopped.reason ?? 'no reason was given')}.`
  return [note('all queues', says, 'Let it go on once its reason is gone.')]
}

function ofQueue({ name, policy, paused }: QueueView, now: number): Finding[] {
  const findings: Finding[] = []
  if (policy === null) {
    const says = `The policy of queue ${name} cannot be read, and nothing of it is handed out.`
    findings.push(wrong(name, says, belfryCommand('queue', 'set', name, '--max-concurrent', '1')))
  }
  if (paused !== null) {
    const says = `Queue ${name} has been paused for ${about(Math.max(0, now - paused.at))}: ${clause(paused.reason)}.`
    findings.push(note(name, says, belfryCommand('queue', 'resume', name)))
  }
  return findings
}

export const noWorker: Examination = {
  check: 'no-worker',
  means:
    'Ready runs that no live worker can execute that works for their queue, by queue and what they need; a run whose backoff or notBefore is over is ready. Wrong, but noted where they have no target: those are for outside hosts, which lease them through a door.',
  next: 'Start the program that registers the handler with `belfry.handle(…)`, or `belfry up` for commands and HTTP; or cancel the runs.',
  async look(patient) {
    // Some workers are there for some queues only, so that whoever is there for all does not suffice to tell.
    const asked = await patient.store.look(lanesBeyond, patient.canAnywhere, lanesLimit)
    const lanes = asked.filter((lane) => takersAmong(needOf(lane), lane.queue, patient.live).length === 0)
    if (lanes.length > 0) {
      const findings = lanes.map((lane) => ofLane(lane, patient))
      return { says: 'There are ready runs that no live worker can execute.', findings }
    }
    const some = asked.length === lanesLimit ? ` that was looked at` : ''
    return { says: `Every ready run${some} has a live worker that can execute it.` }
  },
}

function needOf({ kind, handler }: LaneBeyond): TargetNeed | null {
  return kind === null ? null : { kind, ...(handler !== null && { handler }) }
}

function ofLane(lane: LaneBeyond, { can, live }: Patient): Finding {
  const { queue, kind, handler, count, countIsAtLeast } = lane
  const [is, needs] = count === 1 ? ['is', 'needs'] : ['are', 'need']
  const runs = `In queue ${queue} ${countedAtLeast(count, countIsAtLeast, 'run')}`
  const see = `See them: ${belfryCommand('run', 'list', '--status', 'ready', '--queue', queue)}`
  if (kind === null) {
    const says = `${runs} without a target ${is} ready: for outside hosts, which lease them through a door.`
    return note(queue, says, `Enqueue them anew with a target, and cancel these. ${see}`)
  }
  const need = handler === null ? `a worker for ${kind} targets` : `the handler ${JSON.stringify(handler)}`
  const whom = canExecute(needOf(lane), can) ? ' who works for that queue' : ''
  const says = `${runs} ${is} ready and ${needs} ${need}, which nobody alive has${whom}.`
  const way = nextOf(wayToMeet(needOf(lane), queue, live))
  return wrong(handler ?? kind, says, handler === null ? way : `${way} ${see}`)
}
