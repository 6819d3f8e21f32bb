import { configOperations } from './config/config.ts'
import type { AnyOperation } from './operation.ts'
import { queueOperations } from './queue/queue.ts'
import { runOperations } from './run/run.ts'
import { schedOperations } from './sched/sched.ts'
import { scheduleOperations } from './schedule/schedule.ts'
import { storeOperations } from './store/store.ts'
import { tokenOperations } from './token/token.ts'
import { workerOperations } from './worker.ts'

/** The nouns of the kernel with their verbs; parts bring others. */
export const kernelNouns = {
  schedule: {
    says: 'An intention: what is to happen, and when.',
    plural: 'schedules',
    operations: scheduleOperations,
  },
  run: {
    says: 'A piece of work in a queue: an occurrence of a schedule, or work that was enqueued.',
    plural: 'runs',
    operations: runOperations,
  },
  queue: {
    says: 'A lane of runs with one policy.',
    plural: 'queues',
    operations: queueOperations,
  },
  sched: {
    says: 'What outside hosts do: programs that are no workers, and lease work through a door.',
    plural: 'sched',
    operations: schedOperations,
  },
  worker: {
    says: 'A process that executes runs.',
    plural: 'workers',
    operations: workerOperations,
  },
  token: {
    says: 'What lets somebody in at the doors of a server.',
    plural: 'tokens',
    operations: tokenOperations,
  },
  config: {
    says: 'What files look after: queues, schedules and the scopes of tokens.',
    plural: 'config',
    operations: configOperations,
  },
  store: {
    says: 'Everything that Belfry remembers, in one database.',
    plural: 'store',
    operations: storeOperations,
  },
} as const satisfies Readonly<Record<string, NounEntry>>

/** A noun with its verbs. */
export interface NounEntry {
  readonly says: string
  /** The property of the library. */
  readonly plural: string
  readonly operations: Readonly<Record<string, AnyOperation>>
}
