import { z } from 'zod'
import type { Store } from '../../store/port.ts'
import { leasesOfWorkers } from '../../store/reads/find-leases.ts'
import { workersNow } from '../../store/reads/list-workers.ts'
import type { WorkerView } from '../../store/views.ts'
import type { Ask } from '../door-facts.ts'
import { limit, limitDefault } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { behindLast } from '../next-page.ts'
import { everyDoor, operation } from '../operation.ts'
import { runStatuses } from '../run/run-statuses.ts'
import { omit } from '../schema/brief.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { workersShown } from './show.ts'
import { isDead, isLiveAt } from './worker-alive.ts'

/** A worker, and whether it counts as alive. */
export interface Worker extends Omit<WorkerView, 'isHost'> {
  readonly isLive: boolean
  /** The process is known to be gone, and the worker did not stop cleanly. */
  readonly isDead: boolean
  /** Leases of a dead worker that are not reclaimed yet. */
  readonly unreclaimed: number
}

const can = z.strictObject({
  kinds: z.array(z.string()).describe('Target kinds that it executes.'),
  handlers: z.array(z.string()).describe('Handlers that it executes, by name.').optional(),
  host: flag('Whether it takes work without a target.').optional(),
  queues: z.array(z.string()).describe('Queues that it works for; absent: all queues.').optional(),
})

const processSaid = z.strictObject({
  pid: count('The id of the process.'),
  startedAt: text('When the process started, as the operating system reports it.'),
  bootId: text('The boot id of the machine.'),
  pidNamespace: text('The pid namespace.'),
})

const lostSaid = z.strictObject({
  count: count('How many runs were reclaimed.'),
  runs: z
    .array(
      z.strictObject({
        id: text('The run.'),
        status: z.enum(runStatuses).describe('The status of the run afterwards.'),
        reason: text('Why.'),
      }),
    )
    .describe('The last of these runs, at most 20.'),
})

const workerSaid = noted(
  outputOf<Worker>()(
    z
      .strictObject({
        id: text('The id of the worker.'),
        name: text('Its display name.'),
        host: text('The machine it runs on.'),
        can: can.describe('What it can execute.'),
        slots: count('How many runs it takes at once; null: only its queues limit it.').nullable(),
        startedAt: instantOutput('When it started.'),
        beatAt: instantOutput('Its last heartbeat.'),
        beatMs: count('The time between heartbeats, in ms.'),
        stoppedAt: instantOutput('When it stopped cleanly; null while it runs, and when it died.').nullable(),
        diedAt: instantOutput('When another process found it dead; its last heartbeat is beatAt.').nullable(),
        halted: text('Why it fires and leases nothing although it is alive; null: it fires and leases.').nullable(),
        lost: lostSaid.nullable().describe('The runs that were reclaimed from it; null: none.'),
        process: processSaid.nullable().describe('Its process, where the operating system reports it.'),
        isLive: flag(
          'Whether it counts as alive: it has not stopped, has not missed two heartbeats, and is not known to be dead.',
        ),
        isDead: flag('Whether its process is known to be gone although it did not stop cleanly.'),
        unreclaimed: count('Leases of a dead worker that are not reclaimed yet; counted up to 1000.'),
      })
      .describe('Workers: processes that execute runs.'),
  ),
  { id: 'Worker', brief: (worker: Worker) => omit(worker, 'process', 'beatMs') },
)

/** A worker that died has not stopped, but counts as gone. */
function workerOf({ isHost: _, ...worker }: WorkerView, now: number): Omit<Worker, 'unreclaimed'> {
  const { stoppedAt, diedAt } = worker
  const isLive = isLiveAt(worker, now)
  return { ...worker, stoppedAt: diedAt === null ? stoppedAt : null, isLive, isDead: diedAt !== null || isDead(worker) }
}

/** Whether the worker is known to be gone, so that it is listed after all other workers. */
function isGone({ stoppedAt, diedAt }: Pick<WorkerView, 'stoppedAt' | 'diedAt'>): boolean {
  return stoppedAt !== null || diedAt !== null
}

const unreclaimedMax = 1_000

/** Reads only workers that are not cleaned up yet: one recorded as dead holds no lease. */
async function unreclaimedOf(
  store: Pick<Store, 'look'>,
  workers: readonly Omit<Worker, 'unreclaimed'>[],
): Promise<Map<string, number>> {
  const ids = workers.filter((worker) => worker.isDead && worker.diedAt === null).map(({ id }) => id)
  const counted = new Map<string, number>()
  if (ids.length === 0) return counted
  for (const { workerId } of await store.look(leasesOfWorkers, ids, unreclaimedMax)) {
    counted.set(workerId, (counted.get(workerId) ?? 0) + 1)
  }
  return counted
}

const list = operation({
  noun: 'worker',
  verb: 'list',
  method: 'GET',
  says: 'List workers, a page at a time: present workers first, oldest first; then, on the first page, the last that stopped or died.',
  request: 'a list of workers',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    after: z.string().describe('The last id of the previous page.').optional(),
    limit: limit.optional(),
    stopped: z.boolean().describe('List only workers that stopped or died, newest first. Default: false.').optional(),
  }),
  takes: [],
  output: z.array(workerSaid),
  errors: ['invalid'],
  doors: everyDoor,
  show: workersShown,
  examples: [{}, { after: 'w-11', limit: 20 }, { stopped: true }],
  nextPage: behindLast<Worker>((worker) =>
    isGone(worker) ? { after: worker.id, stopped: true } : { after: worker.id },
  ),
  async run({ store }, page) {
    const asked = { limit: limitDefault, ...onlyGiven(page) }
    const { now, workers } = await store.look(workersNow, asked)
    const told = workers.map((worker) => workerOf(worker, now))
    const unreclaimed = await unreclaimedOf(store, told)
    return told.map((worker) => ({ ...worker, unreclaimed: unreclaimed.get(worker.id) ?? 0 }))
  },
})

export const workerOperations = {
  list,
}

const pageMax = 1_000

/** The time of a store's clock, and whether a worker is alive there. One read is enough if a page holds all workers. */
export async function standingOf(store: Pick<Store, 'look'>): Promise<{ now: number; hasWorker: boolean }> {
  let now = 0
  const hasWorker = await isAnyLive(async (asked) => {
    const page = await store.look(workersNow, asked)
    now = page.now
    return page.workers.map((worker) => workerOf(worker, now))
  })
  return { now, hasWorker }
}

/** Whether a worker is alive, asked through the door that a caller has. */
export function hasLiveWorker(ask: Ask): Promise<boolean> {
  return isAnyLive((asked) => ask(list, asked))
}

type ReadPage = (asked: { limit: number; after?: string }) => Promise<readonly Omit<Worker, 'unreclaimed'>[]>

async function isAnyLive(readPage: ReadPage): Promise<boolean> {
  for (let after: string | undefined; ; ) {
    const page = await readPage({ limit: pageMax, ...(after !== undefined && { after }) })
    if (page.some(({ isLive }) => isLive)) return true
    const last = page.at(-1)
    // Workers that are gone are listed last.
    if (last === undefined || page.length < pageMax || isGone(last)) return false
    after = last.id
  }
}
