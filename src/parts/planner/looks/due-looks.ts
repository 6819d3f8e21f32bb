import { z } from 'zod'
import { isInForce } from '../../../core/hold.ts'
import { systemSchedule } from '../../../core/system-schedule.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { enqueueFrom } from '../../../store/runs/enqueue.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { ExecutorHost, TargetKind } from '../../../targets/kind.ts'
import { autonomyOf, findPlanner } from '../planner-row.ts'
import { rulesQueue } from '../sibling-rules.ts'
import { type AnalysisTarget, plannerQueue } from './analysis-kind.ts'
import { noDataMs } from './analysis-row.ts'
import { hasNews, newsAt } from './has-news.ts'
import { dueLooks, enrolSchedules, removeLook, saveLook } from './look-rows.ts'
import { endStrayLooks } from './stray-looks.ts'

const dueMax = 100
const roundsMax = 10
const offMs = 3_600_000
const noDataMsMax = 3_600_000
/** A look whose worker died twice may never end. After this time the next look is due. */
const lostMs = 1_800_000

export interface LooksMade {
  readonly enrolled: number
  readonly enqueued: number
  /** Why no look was enqueued. */
  readonly why?: string
  /** Other looks may be due. */
  readonly isMore?: true
}

/** Enqueues the due looks, up to a limit. A schedule without news is not asked about again before it may have some. */
export function* enqueueDueLooks(context: StoreContext): Step<LooksMade> {
  const planner = yield* findPlanner(context)
  if (planner === null) return { enrolled: 0, enqueued: 0, why: 'no model is set' }
  if (planner.paused !== null) return { enrolled: 0, enqueued: 0, why: 'planners are paused' }
  const now = yield* clockNow()
  yield* endStrayLooks(context, planner.spec)
  const enrolled = yield* enrolSchedules(context, now, planner.enrolledTo)
  const [held] = (yield* holdsOn(context, { queue: plannerQueue })).filter((hold) => isInForce(hold, now))
  if (held !== undefined) return { enrolled, enqueued: 0, why: `queue ${plannerQueue} is held: ${held.reason}` }
  const found = yield* dueLooks(context, now, dueMax)
  const rows = yield* lockSchedules(
    found.map(({ scheduleId }) => scheduleId),
    { wait: false },
  )
  // Another search may have enqueued some of them and committed before these locks were taken, so they are read again.
  const due = found.length === 0 ? [] : yield* dueLooks(context, now, dueMax)
  let enqueued = 0
  for (const look of due) {
    const row = rows.get(look.scheduleId)
    if (row === undefined) continue
    if (row.deletedAt !== null || systemSchedule(row.name) !== null) {
      yield* removeLook(look.scheduleId)
      continue
    }
    const postpone = (ms: number, verdict: string) => saveLook(row.ns, { ...look, lookAt: now + ms, verdict })
    if ((yield* autonomyOf(context, row)) === 'off') yield* postpone(offMs, 'off')
    else if (!hasNews(row, look, now)) {
      const waitMs = Math.min(Math.max(newsAt(row, now) - now, noDataMs), noDataMsMax)
      yield* postpone(waitMs, 'skipped: no-new-data')
    } else {
      yield* enqueueLook(context, { schedule: row.name, provider: planner.spec.provider })
      yield* saveLook(row.ns, { ...look, lookAt: now + lostMs })
      enqueued += 1
    }
  }
  return { enrolled, enqueued, ...(found.length === dueMax && { isMore: true as const }) }
}

/** Enqueues due looks in several short steps: schedules without news must not keep those with news waiting. */
export async function findDueLooks({ store }: Pick<ExecutorHost, 'store'>): Promise<Omit<LooksMade, 'isMore'>> {
  let [enrolled, enqueued] = [0, 0]
  for (let round = 1; ; round += 1) {
    const made = await store.do(enqueueDueLooks)
    enrolled += made.enrolled
    enqueued += made.enqueued
    if (made.isMore === undefined || enqueued >= dueMax || round === roundsMax) {
      return { enrolled, enqueued, ...(made.why !== undefined && { why: made.why }) }
    }
  }
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
      return { facts: {}, result: await findDueLooks({ store }) }
    },
  }),
}
