import { BelfryError } from '../../core/error.ts'
import { checkActor } from '../../store/check.ts'
import { pauseGroup, putGroup } from '../../store/groups/write-group.ts'
import { lockNamed } from '../../store/lock-named.ts'
import type { Actor, Enqueued, PutAnswer, QueueAnswer } from '../../store/port.ts'
import { setQueue } from '../../store/queues/set-queue.ts'
import { enqueueWithPast, runsMade } from '../../store/runs/enqueue.ts'
import { pauseSchedule } from '../../store/schedules/pause-schedule.ts'
import { putSchedule } from '../../store/schedules/put-schedule.ts'
import type { Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { Draft, DraftedGroup } from './draft.ts'

export interface DraftOptions {
  /** The queue whose policy the draft sets. */
  readonly queue: string
  /** The reason recorded with every new schedule. */
  readonly reason: string
  readonly actor: Actor
}

/** A group of a draft. A group that existed is not changed. */
export interface GroupWritten {
  readonly name: string
  readonly answer: 'created' | 'unchanged'
}

/** The result of a draft; schedules and runs in its order. */
export interface DraftWritten {
  readonly queue: QueueAnswer | null
  readonly groups: readonly GroupWritten[]
  readonly schedules: readonly PutAnswer[]
  readonly runs: readonly Enqueued[]
}

/** Writes everything in a draft, or nothing: the refusal names every conflict. */
export function* writeDraft(
  context: StoreContext,
  { policy, groups = [], schedules, runs }: Omit<Draft, 'left'>,
  { queue, reason, actor }: DraftOptions,
): Step<DraftWritten> {
  checkActor(actor)
  yield* lockNamed(context, {
    queues: policy === null ? [] : [queue],
    schedules: schedules.map(({ spec }) => spec.name),
  })
  const groupsWritten: GroupWritten[] = []
  for (const group of groups) groupsWritten.push(yield* writeGroup(context, group, actor))
  const written = {
    groups: groupsWritten,
    queue: policy === null ? null : yield* setQueue(context, queue, { policy, actor }),
    schedules: [] as PutAnswer[],
  }
  for (const { spec, pausedReason, pausedUntil: until } of schedules) {
    const answer = yield* putSchedule(context, spec, { mode: 'create', reason, actor })
    if (pausedReason !== undefined && answer.answer === 'created') {
      const paused = { reason: pausedReason, actor, ...(until !== undefined && { until }) }
      yield* pauseSchedule(context, spec.name, paused)
    }
    written.schedules.push(answer)
  }
  const answers = { ...written, runs: runs.length === 0 ? [] : yield* enqueueWithPast(context, runs) }
  refuseConflicts(answers, schedules)
  return answers
}
/** Schedules and queues have their own audit lines; this one is about the runs. */
writeDraft.audits = ({ runs }: DraftWritten) => runsMade(runs)
writeDraft.rehearses = true as const

/** A group that exists already is not changed. */
function* writeGroup(context: StoreContext, group: DraftedGroup, actor: Actor): Step<GroupWritten> {
  const { name, description, pausedReason } = group
  const fields = description === undefined ? {} : { description }
  const { answer } = yield* putGroup(context, name, fields, { actor, mode: 'create' })
  if (answer !== 'created') return { name, answer: 'unchanged' }
  if (pausedReason !== undefined) yield* pauseGroup(context, name, { until: null, reason: pausedReason, actor })
  return { name, answer }
}

function refuseConflicts({ schedules, runs }: DraftWritten, drafted: Draft['schedules']): void {
  const conflicts = [
    ...drafted.flatMap(({ spec }, index) => (schedules[index]?.answer === 'exists' ? [`schedule ${spec.name}`] : [])),
    ...runs.flatMap((run) => (!run.created && run.because === 'conflict' ? [`run ${run.id} (key ${run.key})`] : [])),
  ]
  if (conflicts.length === 0) return
  const those = conflicts.length === 1 ? 'exists with other content' : 'exist with other content'
  throw new BelfryError('conflict', `Nothing was changed: ${conflicts.join(', ')} ${those}.`, {
    hint: 'Rename or delete the existing ones, or leave them out.',
    details: { conflicts },
  })
}
