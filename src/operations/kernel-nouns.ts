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
    says: 'An intention: what is to happen, and when.',
    plural: 'schedules',
    operations: scheduleOperations,
    otherWords: scheduleWords,
    groups: { explain: 'Tells why.' },
    resources: [
      {
        operation: scheduleOperations.list,
        name: 'schedules',
        title: 'The schedules',
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
    says: 'A piece of work in a queue: an occurrence of a schedule, or work that was enqueued.',
    plural: 'runs',
    operations: runOperations,
    otherWords: runWords,
    resources: [
      {
        operation: runOperations.list,
        name: 'runs',
        title: 'The latest runs',
        description: 'The latest hundred runs, newest first.',
      },
      {
        operation: runOperations.explain,
        name: 'run',
        title: 'A run',
        description: 'A run by its id, and why it stands as it does.',
      },
    ],
    zone: (ask, { answer }) => zoneOfSchedule(ask, (answer as { readonly schedule?: unknown } | null)?.schedule),
  },
  queue: {
    says: 'A lane of runs with one policy.',
    plural: 'queues',
    operations: queueOperations,
    otherWords: queueWords,
    groups: { policy: 'The rules of a queue.' },
  },
  worker: {
    says: 'A process that executes runs.',
    plural: 'workers',
    operations: workerOperations,
    otherWords: workerWords,
  },
  token: {
    says: 'What lets somebody in at the doors of a server.',
    plural: 'tokens',
    operations: tokenOperations,
  },
  store: {
    says: 'Everything that Belfry remembers, in one database.',
    plural: 'store',
    operations: storeOperations,
    otherWords: storeWords,
  },
} as const satisfies Readonly<Record<string, NounEntry>>
