import type { NounEntry } from './noun.ts'
import { queueWords, runWords, scheduleWords, storeWords, workerWords } from './noun-synonyms.ts'
import { queueOperations } from './queue/noun.ts'
import { runOperations } from './run/noun.ts'
import { scheduleOperations } from './schedule/noun.ts'
import { zoneIn, zoneOfSchedule } from './schedule/schedule-reads.ts'
import { storeOperations } from './store/noun.ts'
import { tokenOperations } from './token/noun.ts'
import { workerOperations } from './worker/noun.ts'

export { kernelHoldReasons } from '../core/hold-reason.ts'

/** The nouns of the kernel with their verbs; parts bring others. */
export const kernelNouns = {
  schedule: {
    says: 'Schedules: what runs, and when.',
    plural: 'schedules',
    operations: scheduleOperations,
    otherWords: scheduleWords,
    groups: { explain: 'Explain why a schedule or run is in its state.' },
    resources: [
      {
        operation: scheduleOperations.list,
        name: 'schedules',
        title: 'Schedules',
        description: 'The first hundred schedules, by name.',
      },
      {
        operation: scheduleOperations.explain,
        name: 'schedule',
        title: 'A schedule',
        description: 'A schedule by its name, and why it runs when it does.',
      },
    ],
    zone: async (ask, { input, answer }) => {
      const zone = zoneIn(answer)
      return zone === undefined ? zoneOfSchedule(ask, input.name) : zone
    },
  },
  run: {
    says: 'Runs: pieces of work in a queue, from a schedule or enqueued directly.',
    plural: 'runs',
    operations: runOperations,
    otherWords: runWords,
    resources: [
      {
        operation: runOperations.list,
        name: 'runs',
        title: 'Latest runs',
        description: 'The latest hundred runs, newest first.',
      },
      {
        operation: runOperations.explain,
        name: 'run',
        title: 'A run',
        description: 'A run by its id, and why it is in its state.',
      },
    ],
    zone: (ask, { answer }) => zoneOfSchedule(ask, (answer as { readonly schedule?: unknown } | null)?.schedule),
  },
  queue: {
    says: 'Queues: lanes of runs, each with one policy.',
    plural: 'queues',
    operations: queueOperations,
    otherWords: queueWords,
    groups: { policy: 'Policy versions of a queue.' },
  },
  worker: {
    says: 'Workers: processes that execute runs.',
    plural: 'workers',
    operations: workerOperations,
    otherWords: workerWords,
  },
  token: {
    says: 'API tokens.',
    plural: 'tokens',
    operations: tokenOperations,
  },
  store: {
    says: 'The store: one database with everything that Belfry keeps.',
    plural: 'store',
    operations: storeOperations,
    otherWords: storeWords,
  },
} as const satisfies Readonly<Record<string, NounEntry>>
