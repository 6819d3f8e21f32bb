import { BelfryError } from '../../core/error.ts'
import type { TargetNeed } from '../../core/queue/plan-leases.ts'
import { priorityDefault } from '../../core/run/work-fields.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { refuseUnworkable } from '../../core/schedule/workable.ts'
import { type LaneOptions, laneNeed } from '../../core/target.ts'
import { type QueueRow, queueRowOf } from '../queues/queue-row.ts'
import { askForNeeds, ensureNeeds, needName } from '../runs/lane-row.ts'
import type { RunRow } from '../runs/run-row.ts'
import { dialects, eachAhead, type Request, rowsOf, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { ScheduleRow } from './schedule-row.ts'

const findQueues = dialects('occurrence find queues', {
  sqlite: 'select id, name, policy, policy_version from belfry.queue where id = $1',
  postgres: 'select id, name, policy, policy_version from belfry.queue where id = any ($1::bigint[])',
})

/** The queue and lane for the runs of a schedule. */
export interface Work {
  readonly queue: QueueRow
  readonly needId: number
}

/** The queues and lanes of schedules, queried before it is known which of them make a run. */
export interface AskedWork {
  readonly queues: Request
  readonly needs: Request
}

/** Queries the queues and lanes of these schedules, together with the next statement. */
export function* askForWork(schedules: readonly ScheduleRow[]): Step<AskedWork> {
  const queueIds = new Set(schedules.map(({ queueId }) => queueId))
  const queues = yield* eachAhead(
    findQueues,
    [...queueIds].map((id) => [id]),
  )
  return { queues, needs: yield* askForNeeds(schedules.flatMap(laneOf)) }
}

/** An invalid target has no lane; the schedule's turn reports it. */
function laneOf({ ns, spec }: ScheduleRow): { ns: number; need: TargetNeed | null }[] {
  try {
    return [{ ns, need: needFor(spec) }]
  } catch {
    return []
  }
}

/** The queried queues and lanes, by the schedules' ids. */
export function* workOf(
  context: StoreContext,
  schedules: readonly ScheduleRow[],
  asked: AskedWork,
): Step<Map<number, Work>> {
  const queues = new Map((yield* rowsOf(asked.queues)).map((row) => [row.id as number, queueRowOf(row)]))
  const work = new Map<number, Work>()
  for (const ns of new Set(schedules.map((schedule) => schedule.ns))) {
    const ofSpace = schedules.filter((schedule) => schedule.ns === ns)
    const needs = ofSpace.map(({ spec }) => needFor(spec))
    const needIds = yield* ensureNeeds({ ...context, ns }, needs, asked.needs)
    for (const [index, { id, queueId }] of ofSpace.entries()) {
      const needId = needIds.get(needName(needs[index] ?? null)) as number
      work.set(id, { queue: queues.get(queueId) as QueueRow, needId })
    }
  }
  return work
}

/** Throws where this process cannot fire the schedule, so that the caller can leave it out before anything is written. */
export function refuseUnfit({ spec }: ScheduleRow): void {
  needFor(spec)
  refuseUnworkable(spec)
}

function needFor({ name, target, options }: ScheduleSpec): TargetNeed | null {
  const answer = laneNeed(target, options as LaneOptions | undefined)
  if ('problem' in answer) throw new BelfryError('failure', `The target of schedule ${name} ${answer.problem}.`)
  return answer.need
}

/** The fields that differ between the runs of one schedule. */
export type RunParts = Pick<
  RunRow,
  'id' | 'occurrenceAt' | 'dueAt' | 'source' | 'notBefore' | 'lateAfter' | 'waitsFor' | 'decision'
> & { readonly payload?: unknown }

/** A run with the current target, payload and policy; later edits do not reach it. */
export function runOf({ id, ns, spec, queueId }: ScheduleRow, work: Work, now: number, parts: RunParts): RunRow {
  const payload = parts.payload === undefined ? spec.payload : parts.payload
  return {
    id: parts.id,
    ns,
    queueId,
    needId: work.needId,
    priority: spec.priority ?? priorityDefault,
    enqueuedAt: now,
    scheduleId: id,
    occurrenceAt: parts.occurrenceAt,
    dueAt: parts.dueAt,
    source: parts.source,
    notBefore: parts.notBefore,
    deadline: null,
    lateAfter: parts.lateAfter,
    concurrencyKey: spec.concurrencyKey ?? null,
    idempotencyKey: null,
    dedupeKey: null,
    waitsFor: parts.waitsFor,
    retryOf: null,
    repeatable: spec.repeatable ?? true,
    onExhausted: spec.onExhausted ?? null,
    policyVersion: work.queue.policyVersion,
    target: spec.target == null ? null : JSON.stringify(spec.target),
    payload: payload === undefined ? null : JSON.stringify(payload),
    options: spec.options === undefined ? null : JSON.stringify(spec.options),
    decision: parts.decision,
  }
}
