import { calendarsIn } from '../../core/target.ts'
import type { Part } from '../../part.ts'
import { nameIn } from '../../store/calendars/named-calendars.ts'
import { all, both, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { routines as tables } from './0008-routines.ts'
import { newestEvents } from './0015-newest-events.ts'
import { routineOperations } from './operations/noun.ts'
import { sweepRoutineEvents, sweepRoutines } from './sweep-routines.ts'
import { webhookPaths } from './webhooks-openapi.ts'

/** Routines: events, from a verb or a signed webhook, that fire a schedule or enqueue a run. */
export const routines = {
  name: 'routines',
  migrations: [tables, newestEvents],
  // Retention removes the events of a routine before the routine.
  sweeps: [sweepRoutineEvents, sweepRoutines],
  namesQueue,
  namesCalendar,
  nouns: {
    routine: {
      says: 'Routines: events that fire a schedule or enqueue a run.',
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
          ? 'A routine enqueued it for an event.'
          : 'A routine fired its schedule for an event; that does not move its occurrences.',
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

function* namesCalendar({ ns }: StoreContext, calendar: string): Step<Readonly<Record<string, readonly string[]>>> {
  const rows = yield* all<{ name: string; spec: string }>(findRoutines, ns)
  const follows = (spec: string) => calendarsIn(runIn(spec)?.options).some((use) => nameIn(use) === calendar)
  return { routine: rows.filter(({ spec }) => follows(spec)).map(({ name }) => name) }
}

function queueIn(spec: string): string | undefined {
  return runIn(spec)?.queue
}

function runIn(spec: string): { readonly queue?: string; readonly options?: object } | undefined {
  try {
    return (JSON.parse(spec) as { run?: { queue?: string; options?: object } }).run
  } catch {
    // An unreadable routine names nothing; its next event reports the problem.
    return undefined
  }
}
