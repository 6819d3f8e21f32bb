import { leasesOfWorkers } from '../../../store/reads/find-leases.ts'
import { workAhead } from '../../../store/reads/find-queue.ts'
import { nextInstants } from '../../../store/reads/next-instants.ts'
import type { WorkerView } from '../../../store/views.ts'
import { haltedAmong, haltLift } from '../../explain/fleet.ts'
import { about } from '../../explain/words.ts'
import { isDead } from '../../worker/worker-alive.ts'
import type { Finding } from '../diagnosis.ts'
import { counted, fixCommand, fixed, type HealthCheck, note, type Seen, upCommand, wrong } from '../health-check.ts'
import type { Inspection } from '../inspection.ts'

const leasesMax = 10_000

export const workers: HealthCheck = {
  check: 'workers',
  says: 'Whether a worker is alive. Wrong: no worker is alive, and there is work, now or later, or an active schedule. Noted: no worker is alive and there is neither; workers that did not stop cleanly; and workers that start nothing because of a file `.belfry/STOP` or BELFRY_DISABLED.',
  unblocks: 'Start a worker: `belfry up`.',
  mends:
    'Records the death of a worker whose process is known to be gone from this machine, once the worker holds no run.',
  async look(inspection): Promise<Seen> {
    const { live } = inspection
    const says =
      live.length === 0
        ? 'No worker is alive.'
        : `${counted(live.length, 'worker')} ${live.length === 1 ? 'is' : 'are'} alive.`
    return {
      says,
      findings: [
        ...(live.length === 0 ? [await noWorker(inspection)] : []),
        ...haltedAmong(live).map(haltedNote),
        ...(await silent(inspection)),
      ],
    }
  },
  async mend(inspection) {
    const { store } = inspection
    const dead = gone(inspection).filter(isDead)
    const holders = await holdersAmong(inspection, dead)
    const buried = dead.filter(({ id }) => !holders.has(id))
    if (buried.length === 0) return []
    const { unknown } = await store.beat(
      buried.map(({ id }) => id),
      { died: true },
    )
    return buried
      .filter(({ id }) => !unknown.includes(id))
      .map((worker) => fixed(silence(worker, inspection, 0), 'It was recorded as dead.'))
  },
}

/** It beats like any other worker, and nothing else shows that it takes no work. */
function haltedNote({ id, name, host, halted }: WorkerView & { readonly halted: string }): Finding {
  return note(
    id,
    `Worker ${name} on ${host} starts nothing: it is stopped by ${halted}.`,
    `On ${host}: ${haltLift(halted)}`,
  )
}

async function noWorker({ store }: Inspection): Promise<Finding> {
  const [{ now, queues, nextAt }, instants] = [await store.look(workAhead), await store.look(nextInstants)]
  const waits = [
    ...(queues.length > 0 ? [`there is work in ${queues.length === 1 ? 'queue' : 'queues'} ${listed(queues)}`] : []),
    ...(nextAt === null ? [] : [`the first of the runs that wait for an instant may start in ${about(nextAt - now)}`]),
    ...(instants.leaseExpiresAt === null ? [] : ['no worker would reclaim leases that expire']),
    ...(instants.scheduleAt === null ? [] : ['schedules are active']),
  ]
  if (waits.length === 0) {
    return note('workers', 'No worker is alive, and there is no work for one.', `When there is work: ${upCommand}`)
  }
  return wrong('workers', `No worker is alive, but ${waits.join(' and ')}.`, upCommand)
}

const listedMax = 5

function listed(names: readonly string[]): string {
  const rest = names.length - listedMax
  return `${names.slice(0, listedMax).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Workers that have not stopped and are not alive. */
function gone({ workers, live }: Inspection): WorkerView[] {
  const alive = new Set(live)
  return workers.filter((worker) => worker.stoppedAt === null && !alive.has(worker))
}

async function silent(inspection: Inspection): Promise<Finding[]> {
  const holders = await holdersAmong(inspection, gone(inspection))
  return gone(inspection).map((worker) => silence(worker, inspection, holders.get(worker.id) ?? 0))
}

/** The number of runs that each of them holds, without zeros. */
async function holdersAmong({ store }: Inspection, among: readonly WorkerView[]): Promise<Map<string, number>> {
  const held = await store.look(
    leasesOfWorkers,
    among.map(({ id }) => id),
    leasesMax,
  )
  const counts = new Map<string, number>()
  for (const { workerId } of held) counts.set(workerId, (counts.get(workerId) ?? 0) + 1)
  return counts
}

function silence(worker: WorkerView, inspection: Inspection, held: number): Finding {
  const { id, name, host, beatAt } = worker
  const holds = held === 0 ? '' : ` It holds ${counted(held, 'run')}.`
  const ago = `last heartbeat ${about(Math.max(0, inspection.now - beatAt))} ago`
  if (isDead(worker)) {
    const says = `Worker ${name} on ${host} (${ago}) died.${holds}`
    const back = `A live worker reclaims its runs: ${upCommand}`
    return note(id, says, held === 0 ? fixCommand : back)
  }
  const says = `Worker ${name} on ${host} is silent (${ago}) and did not stop cleanly.${holds}`
  const next = held === 0 ? 'If it is gone for good, do nothing.' : 'Its runs are reclaimed when its leases expire.'
  return note(id, says, `Check its process on ${host}. ${next}`)
}
