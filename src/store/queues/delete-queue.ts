import { defaultQueue } from '../../core/queue/policy.ts'
import type { Actor } from '../audit/actor.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { followCalendars } from '../calendars/use-calendars.ts'
import { canBeName } from '../check.ts'
import { forgetHolds } from '../holds/lift-hold.ts'
import { refuseManaged } from '../managed.ts'
import { queueStats } from '../reads/queue-stats.ts'
import { all, both, clockNow, dialects, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { Counted } from '../views.ts'

export interface QueueUse {
  /** Runs in it that have not ended: leased, in line, waiting or held. */
  readonly live: Counted
  readonly parked: Counted
  /** The first schedules that name it, and how many there are. */
  readonly schedules: readonly string[]
  readonly schedulesCount: number
  /** What else names the queue: names by noun. */
  readonly others: Readonly<Record<string, readonly string[]>>
}

export type DeleteQueueAnswer =
  | { readonly answer: 'deleted' | 'not-found' | 'system' }
  | { readonly answer: 'in-use'; readonly use: QueueUse }

/** Locks the queue against every other change, and against leases. */
const lockQueue = dialects('delete queue lock', {
  sqlite: 'select id, managed_by from belfry.queue where ns = $1 and name = $2 and deleted_at is null',
  postgres:
    'select id, managed_by from belfry.queue where ns = $1 and name = $2 and deleted_at is null for no key update',
})
const findSchedules = both(
  'delete queue find schedules',
  'select name from belfry.schedule where ns = $1 and queue_id = $2 and deleted_at is null order by name',
)
const markDeleted = both('delete queue mark', 'update belfry.queue set deleted_at = $2 where id = $1')

const namesMax = 5

/**
 * Marks a queue as deleted, if it is empty and nothing names it; its name is free at once. The row stays for ended runs until
 * retention has removed them. Work that arrives at the same moment is not lost: it is leased from the old row, and repair
 * makes the queue visible again.
 */
export function* deleteQueue(
  context: StoreContext,
  name: string,
  { actor }: { readonly actor: Actor },
): Step<DeleteQueueAnswer> {
  const isOfPart = context.parts.some(({ queues = {} }) => Object.hasOwn(queues, name))
  if (name === defaultQueue || isOfPart) return { answer: 'system' }
  const found = canBeName(name) ? yield* one(lockQueue, context.ns, name) : undefined
  if (found === undefined) return { answer: 'not-found' }
  refuseManaged({ noun: 'queue', name, managedBy: found.managed_by as string | null })
  const use = yield* useOf(context, found.id as number, name)
  if (isUsed(use)) return { answer: 'in-use', use }
  const now = yield* clockNow()
  yield* one(markDeleted, found.id as number, now)
  yield* forgetHolds(context, 'queue', name)
  yield* followCalendars(context, { scope: 'queue', subject: name }, [])
  yield* writeAudit(context, { actor, verb: 'queue.delete', subject: `queue ${name}` }, now)
  return { answer: 'deleted' }
}
deleteQueue.rehearses = true as const

function* useOf(context: StoreContext, id: number, name: string): Step<QueueUse> {
  const stats = yield* queueStats(context, name)
  const schedules = (yield* all<{ name: string }>(findSchedules, context.ns, id)).map((row) => row.name)
  const others: Record<string, readonly string[]> = {}
  for (const { namesQueue } of context.parts) {
    if (namesQueue !== undefined) Object.assign(others, yield* namesQueue(context, name))
  }
  const kinds = stats === null ? [] : [stats.inLine, stats.waiting, stats.behindKey, stats.behindRun, stats.held]
  return {
    live: summed([{ count: stats?.inFlight ?? 0, countIsAtLeast: false }, ...kinds]),
    parked: stats?.parked ?? { count: 0, countIsAtLeast: false },
    schedules: schedules.slice(0, namesMax),
    schedulesCount: schedules.length,
    others,
  }
}

function summed(counts: readonly Counted[]): Counted {
  return {
    count: counts.reduce((sum, { count }) => sum + count, 0),
    countIsAtLeast: counts.some(({ countIsAtLeast }) => countIsAtLeast),
  }
}

function isUsed({ live, parked, schedulesCount, others }: QueueUse): boolean {
  const isNamed = Object.values(others).some((names) => names.length > 0)
  return live.count > 0 || parked.count > 0 || schedulesCount > 0 || isNamed
}
