import { BelfryError } from '../core/error.ts'
import type { Change, Changed } from './change.ts'
import { checkActor } from './check.ts'
import type { StoreContext } from './context.ts'
import type { Actor } from './port.ts'
import { setQueue } from './queues/set-queue.ts'
import { enqueueImported, runsMade } from './runs/enqueue.ts'
import { deleteSchedule } from './schedules/delete-schedule.ts'
import { pauseSchedule } from './schedules/pause-schedule.ts'
import { putSchedule } from './schedules/put-schedule.ts'
import { all, dialects, inList, type Step } from './statement.ts'

const lockQueues = dialects('apply lock queues', {
  sqlite: null,
  postgres: `select id from belfry.queue where ns = $1 and name ${inList.texts('$2').postgres} order by id for no key update`,
})
const lockSchedules = dialects('apply lock schedules', {
  sqlite: null,
  postgres: `select id from belfry.schedule where ns = $1 and name ${inList.texts('$2').postgres} and deleted_at is null
    order by id for no key update`,
})

/** Makes all changes or none. What is in the way of any of them is told at once, and nothing is changed then. */
export function* applyChanges(
  context: StoreContext,
  changes: readonly Change[],
  { actor }: { readonly actor: Actor },
): Step<Changed[]> {
  checkActor(actor)
  const named = (kinds: readonly Change['kind'][]) => changes.flatMap((change) => namesIn(change, kinds))
  yield* lockInOrder(context, { queues: named(['queue']), schedules: named(['schedule', 'delete']) })
  const answers: Changed[] = []
  for (const change of changes) answers.push(yield* changeOne(context, change, actor))
  refuseConflicts(answers)
  return answers
}
/** Schedules and queues write their own lines; of the runs this one tells. */
applyChanges.audits = (answers: readonly Changed[]) =>
  runsMade(answers.flatMap((changed) => (changed.kind === 'runs' ? changed.answers : [])))
applyChanges.rehearses = true as const

function namesIn(change: Change, kinds: readonly Change['kind'][]): string[] {
  if (!kinds.includes(change.kind)) return []
  if (change.kind === 'runs') return []
  return [change.kind === 'schedule' ? change.spec.name : change.name]
}

/** Queues first, then schedules, each by id: whoever else locks several of them does so in this order. */
export function* lockInOrder(
  { ns }: StoreContext,
  { queues, schedules }: { readonly queues: readonly string[]; readonly schedules: readonly string[] },
): Step<void> {
  if (queues.length > 0) yield* all(lockQueues, ns, JSON.stringify(queues))
  if (schedules.length > 0) yield* all(lockSchedules, ns, JSON.stringify(schedules))
}

function* changeOne(context: StoreContext, change: Change, actor: Actor): Step<Changed> {
  switch (change.kind) {
    case 'queue': {
      const { kind, name } = change
      return { kind, name, answer: yield* setQueue(context, name, { ...change.change, actor }) }
    }
    case 'schedule': {
      const { kind, spec, options, pausedReason } = change
      const answer = yield* putSchedule(context, spec, { ...options, actor })
      if (pausedReason !== undefined && answer.answer === 'created') {
        yield* pauseSchedule(context, spec.name, { reason: pausedReason, actor })
      }
      return { kind, name: spec.name, answer }
    }
    case 'delete': {
      const { kind, name } = change
      return { kind, name, answer: yield* deleteSchedule(context, name, { actor }) }
    }
    case 'runs': {
      return { kind: 'runs', answers: yield* enqueueImported(context, change.runs) }
    }
  }
}

const refusals: ReadonlySet<string> = new Set(['exists', 'version-differs'])

function refuseConflicts(answers: readonly Changed[]): void {
  const conflicts = answers.flatMap((changed) => {
    if (changed.kind === 'runs') {
      return changed.answers.flatMap((answer) =>
        !answer.created && answer.because === 'conflict' ? [`run ${answer.id} (key ${answer.key})`] : [],
      )
    }
    if (changed.kind === 'delete') return []
    return refusals.has(changed.answer.answer) ? [`${changed.kind} ${changed.name}`] : []
  })
  if (conflicts.length === 0) return
  const those = conflicts.length === 1 ? 'is there already, and is another' : 'are there already, and are others'
  throw new BelfryError('conflict', `Nothing was changed: ${conflicts.join(', ')} ${those}.`, {
    hint: 'Rename or delete what is in the way, or leave it out.',
    details: { conflicts },
  })
}
