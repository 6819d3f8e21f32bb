import { z } from 'zod'
import type { Store } from '../../store/port.ts'
import { leasesOfWorkers } from '../../store/reads/find-leases.ts'
import { workersNow } from '../../store/reads/list-workers.ts'
import type { WorkerView } from '../../store/views.ts'
import { isProvenDead, ownIdentity, type ProcessIdentity } from '../../store/workers/process-identity.ts'
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

/** A worker, and whether it is taken for alive. */
export interface Worker extends WorkerView {
  readonly isLive: boolean
  /** Its process is certainly gone, or was found so, and it has not said goodbye. */
  readonly isDead: boolean
  /** How many leases of a dead worker were not taken back yet. */
  readonly unreclaimed: number
}

const beatsMissedMax = 2

/**
 * Whether a worker is alive by a clock: it has not stopped, has not missed two beats, and is not known to be dead. The one
 * rule that all doors and verbs ask: whoever is told by one of them that nobody works must not be told otherwise by the next.
 */
export function isLiveAt(worker: WorkerView, now: number): boolean {
  const { stoppedAt, beatAt, beatMs } = worker
  return stoppedAt === null && now - beatAt <= beatsMissedMax * beatMs && !isDead(worker)
}

/** Its process is certainly gone, and it has not said goodbye. Of other machines nothing is certain but their silence. */
export function isDead({ stoppedAt, process }: WorkerView): boolean {
  return stoppedAt === null && process !== null && isProvenDead(process, own())
}

/** Its process is certainly there, on this machine, however long nothing was heard of it. */
export function isHere({ process }: WorkerView): boolean {
  const mine = own()
  return process !== null && mine !== null && isOneMachine(process, mine) && !isProvenDead(process, mine)
}

/** Whether each could see the other die: they count their processes on one machine, and in one namespace. */
export function areSideBySide(a: WorkerView, b: WorkerView): boolean {
  return a.process !== null && b.process !== null && isOneMachine(a.process, b.process)
}

function isOneMachine(a: ProcessIdentity, b: ProcessIdentity): boolean {
  return a.bootId === b.bootId && a.pidNamespace === b.pidNamespace
}

let self: ProcessIdentity | null | undefined

/** This process never becomes another one, so that it is read once, however many workers are looked at. */
function own(): ProcessIdentity | null {
  if (self === undefined) self = ownIdentity()
  return self
}

const can = z.strictObject({
  kinds: z.array(z.string()).describe('Kinds of targets that it takes whole.'),
  handlers: z.array(z.string()).describe('The handlers that it takes by name.').optional(),
  host: flag('Whether it takes work without a target.').optional(),
  queues: z.array(z.string()).describe('The queues that it works for; left out where it works for all.').optional(),
})

const processSaid = z.strictObject({
  pid: count('The id of the process.'),
  startedAt: text('When the process was started, as its system tells it.'),
  bootId: text('The boot of the machine.'),
  pidNamespace: text('The namespace that the id counts in.'),
})

const lostSaid = z.strictObject({
  count: count('How many runs were taken back.'),
  runs: z
    .array(
      z.strictObject({
        id: text('The run.'),
        status: z.enum(runStatuses).describe('What it was from then on.'),
        reason: text('Why.'),
      }),
    )
    .describe('The last of them, at most 20.'),
})

const workerSaid = noted(
  outputOf<Worker>()(
    z
      .strictObject({
        id: text('The id of the worker.'),
        name: text('Its name, for people.'),
        host: text('The machine it runs on.'),
        can: can.describe('What it can execute.'),
        slots: count('How many runs it takes at once; null where only the queues limit it.').nullable(),
        startedAt: instantOutput('When it started.'),
        beatAt: instantOutput('When it was last heard of.'),
        beatMs: count('How often it is to be heard of, in ms.'),
        stoppedAt: instantOutput('When it stopped as it should; null where it runs or died.').nullable(),
        diedAt: instantOutput('When another process found it dead; it was last heard of at beatAt.').nullable(),
        lost: lostSaid
          .nullable()
          .describe('What became of the runs that were taken back from it; null where none was.'),
        process: processSaid.nullable().describe('The process, where its system tells of it.'),
        isLive: flag(
          'Whether it is taken for alive: it has not stopped, has not missed two beats, and is not known to be dead.',
        ),
        isDead: flag('Whether its process is certainly gone, or was found so, though it has not said goodbye.'),
        unreclaimed: count('How many leases of a dead worker were not taken back yet; at most 1000 are counted.'),
      })
      .describe('A process that executes runs.'),
  ),
  { id: 'Worker', brief: (worker: Worker) => omit(worker, 'process', 'beatMs') },
)

/** One that died has not stopped, though it is counted among those that are gone. */
function workerOf(worker: WorkerView, now: number): Omit<Worker, 'unreclaimed'> {
  const { stoppedAt, diedAt } = worker
  const isLive = isLiveAt(worker, now)
  return { ...worker, stoppedAt: diedAt === null ? stoppedAt : null, isLive, isDead: diedAt !== null || isDead(worker) }
}

/** Whether it is known to be gone, so that it is listed behind all that are not. */
function isGone({ stoppedAt, diedAt }: WorkerView): boolean {
  return stoppedAt !== null || diedAt !== null
}

const unreclaimedMax = 1_000

/** Asked only of those that were not cleared up yet: one that was found dead holds nothing any more. */
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
  says: 'Lists workers, a page at a time: those that are not known to be gone, oldest first, then on the first page those that stopped or died last.',
  request: 'a list of workers',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    after: z.string().describe('The last id of the page before.').optional(),
    limit: limit.optional(),
    stopped: z
      .boolean()
      .describe('Whether those that have stopped or died are listed, newest first, and no others. Default: false.')
      .optional(),
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

/** The verbs of a worker. */
export const workerOperations = {
  list,
}

const pageMax = 1_000

/** What time it is at a store, and whether a worker is alive there: one read where a page holds all workers. */
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
    // Those that are gone come behind all that are not.
    if (last === undefined || page.length < pageMax || isGone(last)) return false
    after = last.id
  }
}
