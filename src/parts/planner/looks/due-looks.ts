import { z } from 'zod'
import { isInForce } from '../../../core/hold.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { enqueueFrom } from '../../../store/runs/enqueue.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { TargetKind } from '../../../targets/kind.ts'
import { autonomyOf, findPlanner } from '../planner-row.ts'
import { rulesQueue } from '../sibling-rules.ts'
import { type AnalysisTarget, plannerQueue } from './analysis-kind.ts'
import { noDataMs } from './analysis-row.ts'
import { dueLooks, enrolSchedules, removeLook, saveLook } from './look-rows.ts'

const dueMax = 100
const offMs = 3_600_000
/** A look that is never heard of again, because its worker died twice, is due again after this. */
const lostMs = 1_800_000

export interface LooksMade {
  readonly enrolled: number
  readonly enqueued: number
  /** Why none was enqueued. */
  readonly why?: string
}

/** Enqueues the looks that are due, a bounded number. */
export function* enqueueDueLooks(context: StoreContext): Step<LooksMade> {
  const planner = yield* findPlanner(context)
  if (planner === null) return { enrolled: 0, enqueued: 0, why: 'no model is set' }
  if (planner.paused !== null) return { enrolled: 0, enqueued: 0, why: 'planners are paused' }
  const now = yield* clockNow()
  const enrolled = yield* enrolSchedules(context, now, planner.enrolledTo)
  const [held] = (yield* holdsOn(context, { queue: plannerQueue })).filter((hold) => isInForce(hold, now))
  if (held !== undefined) return { enrolled, enqueued: 0, why: `queue ${plannerQueue} is held: ${held.reason}` }
  const due = yield* dueLooks(context, now, dueMax)
  const rows = yield* lockSchedules(
    due.map(({ scheduleId }) => scheduleId),
    { wait: false },
  )
  let enqueued = 0
  for (const look of due) {
    const row = rows.get(look.scheduleId)
    if (row === undefined) continue
    if (row.deletedAt !== null || row.name.startsWith('belfry:')) {
      yield* removeLook(look.scheduleId)
      continue
    }
    const postpone = (ms: number, verdict: string) => saveLook(row.ns, { ...look, lookAt: now + ms, verdict })
    if ((yield* autonomyOf(context, row)) === 'off') yield* postpone(offMs, 'off')
    else if (row.lastEndAt === null || row.lastEndAt <= (look.lookedAt ?? 0))
      yield* postpone(noDataMs, 'skipped: no-new-data')
    else {
      yield* enqueueLook(context, { schedule: row.name, provider: planner.spec.provider })
      yield* saveLook(row.ns, { ...look, lookAt: now + lostMs })
      enqueued += 1
    }
  }
  return { enrolled, enqueued }
}

export function* enqueueLook(context: StoreContext, analysis: AnalysisTarget): Step<string> {
  const dedupeKey = `planner look ${analysis.schedule}`
  const run = {
    queue: plannerQueue,
    target: { analysis, lane: analysis.provider },
    dedupeKey,
    onExhausted: 'fail',
  } as const
  return (yield* enqueueFrom(context, 'planner', run)).id
}

/** The name of the schedule that finds due looks. It can be paused and explained like any other. */
export const looksSchedule = 'belfry:looks'

export const looksKind: TargetKind = {
  name: 'looks',
  called: 'the search for due looks',
  form: z.strictObject({}),
  problems: () => [],
  closed: 'belongs to the schedule belfry:looks',
  words: () => 'enqueues the looks of planners that are due',
  flags: [],
  queue: rulesQueue,
  timeoutMs: 60_000,
  message: 'is the search for due looks, which takes no messages',
  executor: async ({ store }) => ({
    async execute() {
      return { facts: {}, result: await store.do(enqueueDueLooks) }
    },
  }),
}
