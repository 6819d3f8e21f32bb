import type { Part } from '../../part.ts'
import { all, both, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { routines as tables } from './0008-routines.ts'
import { newestEvents } from './0015-newest-events.ts'
import { routineOperations } from './operations/noun.ts'
import { sweepRoutineEvents, sweepRoutines } from './sweep-routines.ts'
import { webhookPaths } from './webhooks-openapi.ts'

/** Routines: what is done when an event comes in, by a verb or as a signed webhook. */
export const routines = {
  name: 'routines',
  migrations: [tables, newestEvents],
  // The events of a routine go before it does.
  sweeps: [sweepRoutineEvents, sweepRoutines],
  namesQueue,
  nouns: {
    routine: {
      says: 'What is done when an event comes in: a schedule is fired, or a run enqueued.',
      plural: 'routines',
      operations: routineOperations,
      otherWords: {
        routines: 'routine list',
        webhook: 'routine',
        webhooks: 'routine list',
        hook: 'routine',
        'routine add': 'create',
        'routine new': 'create',
        'routine ls': 'list',
        'routine rm': 'delete',
        'routine remove': 'delete',
        'routine get': 'show',
        'routine describe': 'show',
        'routine trigger': 'fire',
        'routine run': 'fire',
        'routine history': 'events',
        'routine log': 'events',
        'routine pause': 'disable',
        'routine stop': 'disable',
        'routine resume': 'enable',
        'routine start': 'enable',
      },
    },
  },
  origins: {
    routine: {
      sentence: ({ scheduleId }) =>
        scheduleId === null
          ? 'An event made a routine enqueue it.'
          : 'An event made a routine fire its schedule; that does not move its occurrences.',
      asked: 'by a routine',
    },
  },
  routes: async () => (await import('./webhooks.ts')).addWebhooks,
  paths: webhookPaths,
  signedPaths: ['/hooks/'],
} as const satisfies Part

const findRoutines = both(
  'delete queue find routines',
  'select name, spec from belfry.routine where ns = $1 and deleted_at is null order by name',
)

function* namesQueue({ ns }: StoreContext, queue: string): Step<Readonly<Record<string, readonly string[]>>> {
  const rows = yield* all<{ name: string; spec: string }>(findRoutines, ns)
  return { routine: rows.filter(({ spec }) => queueIn(spec) === queue).map(({ name }) => name) }
}

function queueIn(spec: string): string | undefined {
  try {
    return (JSON.parse(spec) as { run?: { queue?: string } }).run?.queue
  } catch {
    // A routine that cannot be read names no queue; its next event says what is wrong with it.
    return undefined
  }
}
