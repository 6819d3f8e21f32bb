import { z } from 'zod'
import type { WorkerView } from '../store/view.ts'
import { noted } from './note.ts'
import { everyDoor, operation } from './operation.ts'
import { count, flag, instantSaid, outputOf, text } from './output.ts'

/** A worker, and whether it is taken for alive: it has not stopped, and not missed two beats. */
export interface Worker extends WorkerView {
  readonly isLive: boolean
}

const beatsMissedMax = 2

/** Whether a worker is alive by a clock. */
export function isLiveAt({ stoppedAt, beatAt, beatMs }: WorkerView, now: number): boolean {
  return stoppedAt === null && now - beatAt <= beatsMissedMax * beatMs
}

const can = z.strictObject({
  kinds: z.array(z.string()).describe('Kinds of targets that it takes whole.'),
  handlers: z.array(z.string()).describe('The handlers that it takes by name.').optional(),
  host: flag('Whether it takes work without a target.').optional(),
})

const processSaid = z.strictObject({
  pid: count('The id of the process.'),
  startedAt: text('When the process was started, as its system tells it.'),
  bootId: text('The boot of the machine.'),
  pidNamespace: text('The namespace that the id counts in.'),
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
        startedAt: instantSaid('When it started.'),
        beatAt: instantSaid('When it was last heard of.'),
        beatMs: count('How often it is to be heard of, in ms.'),
        stoppedAt: instantSaid('When it stopped.').nullable(),
        process: processSaid.nullable().describe('The process, where its system tells of it.'),
        isLive: flag('Whether it is taken for alive: it has not stopped, and not missed two beats.'),
      })
      .describe('A process that executes runs.'),
  ),
  { id: 'Worker' },
)

const list = operation({
  noun: 'worker',
  verb: 'list',
  says: 'Lists the workers that have not stopped, oldest first, then those that stopped last.',
  request: 'a list of workers',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({}),
  takes: [],
  output: z.array(workerSaid),
  errors: ['invalid'],
  doors: everyDoor,
  examples: [{}],
  async run({ store }) {
    const [workers, now] = await Promise.all([store.read.workers(), store.read.now()])
    return workers.map((worker) => ({ ...worker, isLive: isLiveAt(worker, now) }))
  },
})

/** The verbs of a worker. An editor shows these comments at `belfry.workers`; a test holds them to what the verb says. */
export const workerOperations = {
  /** Lists the workers that have not stopped, oldest first, then those that stopped last. */
  list,
}
