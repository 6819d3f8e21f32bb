import { formatMoney } from '../../../core/budget/money.ts'
import { BelfryError } from '../../../core/error.ts'
import { isInForce } from '../../../core/hold.ts'
import type { AuthorKind } from '../../../core/schedule/hint-author.ts'
import { hintKinds } from '../../../core/schedule/hints.ts'
import { systemSchedule } from '../../../core/system-schedule.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { boundWork } from '../../../store/bound-work.ts'
import { canonicalJson } from '../../../store/check.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { lockManaged, refuseManaged } from '../../../store/managed.ts'
import type { Actor } from '../../../store/port.ts'
import { ensureQueues } from '../../../store/queues/queue-row.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import { endPausesOf } from '../../../store/schedules/pause-schedule.ts'
import { putSchedule } from '../../../store/schedules/put-schedule.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import { clearHintsOf } from '../../../store/schedules/steer-schedule.ts'
import { all, both, clockNow, one, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { shown } from '../../../store/table-codec.ts'
import { plannerQueue } from '../looks/analysis-kind.ts'
import { type AnalysisTold, analysisState } from '../looks/analysis-row.ts'
import { enqueueLook, looksSchedule } from '../looks/due-looks.ts'
import { endStrayLooks } from '../looks/stray-looks.ts'
import {
  autonomyOf,
  findPlanner,
  type PlannerRow,
  type PlannerSpec,
  plannerBudget,
  savePlanner,
  writePlannerPause,
} from '../planner-row.ts'
import { rulesQueue } from '../sibling-rules.ts'

export interface PlannerChange {
  readonly actor: Actor
  /** The zone of the month of the planner's budget. */
  readonly zone: string
  /** The config file that manages the planner from now on. */
  readonly source?: string
  /** The planner that the change was made from. If it is another one by now, nothing is written. */
  readonly seen?: PlannerSpec | null
}

export interface PlannerSet {
  readonly answer: 'created' | 'updated' | 'unchanged' | 'other-seen'
  readonly before: PlannerSpec | null
}

/** Sets the planner, with the queue of its looks, the budget of that queue, and the schedule that finds due looks. */
export function* setPlanner(context: StoreContext, given: PlannerSpec, change: PlannerChange): Step<PlannerSet> {
  const { actor, source } = change
  yield* lockManaged(context)
  const found = yield* findPlanner(context)
  const before = found?.spec ?? null
  const isOther = change.seen !== undefined && canonicalJson(change.seen) !== canonicalJson(before)
  if (isOther) return { answer: 'other-seen', before }
  // In another zone the month would begin at another instant, and the usage so far would be lost.
  const spec = given.tokensPerMonth === undefined ? given : { ...given, zone: before?.zone ?? change.zone }
  const isSame = before !== null && canonicalJson(before) === canonicalJson(spec)
  if (isSame && (source === undefined || found?.managedBy === source)) return { answer: 'unchanged', before }
  const name = before === null ? '' : `${before.provider} ${before.model}`
  refuseManaged({ noun: 'planner', name, managedBy: found?.managedBy ?? null }, source)
  yield* savePlanner(context, spec, source ?? null)
  yield* ensureQueues(context, [plannerQueue, rulesQueue])
  yield* boundTokens(context, { before, spec, actor })
  yield* endStrayLooks(context, spec)
  const looks = {
    name: looksSchedule,
    timing: { everyMs: 300_000 },
    overlap: 'skip',
    queue: rulesQueue,
    target: { looks: {} },
  } as const
  yield* putSchedule(context, looks, { mode: 'put', actor })
  if (isSame) return { answer: 'unchanged', before }
  const detail = { provider: spec.provider, model: spec.model }
  yield* writeAudit(context, { actor, verb: 'planner.set', subject: 'planner', detail }, yield* clockNow())
  return { answer: before === null ? 'created' : 'updated', before }
}

interface Bounding extends Pick<PlannerChange, 'actor'> {
  readonly before: PlannerSpec | null
  readonly spec: PlannerSpec
}

/** Writes the planner's budget: an ordinary budget, over the queue of its looks. */
function* boundTokens(context: StoreContext, { before, spec, actor }: Bounding): Step<void> {
  const { tokensPerMonth: tokens, zone = before?.zone ?? 'UTC' } = spec
  if (tokens === before?.tokensPerMonth) return
  if (tokens !== undefined && !context.parts.some(({ bounds }) => bounds !== undefined)) {
    throw new BelfryError('conflict', 'Budgets are left out of this process, so tokensPerMonth would bound nothing.', {
      hint: 'Set the planner where the feature budgets is not left out, or leave tokensPerMonth out.',
    })
  }
  const of = { scope: 'queue', subject: plannerQueue } as const
  const limits = tokens === undefined ? null : { tokens }
  yield* boundWork(context, { name: plannerBudget, of, per: 'month', zone, limits, actor })
}

export type LookAsked =
  | { readonly answer: 'not-found' }
  | { readonly answer: 'refused'; readonly why: string; readonly hint: string }
  | { readonly answer: 'enqueued'; readonly run: string }

/** Enqueues a look that a person requested. */
export function* askForLook(context: StoreContext, name: string): Step<LookAsked> {
  const row = yield* findScheduleRow(context, name)
  if (row === null || row.deletedAt !== null) return { answer: 'not-found' }
  const planner = yield* findPlanner(context)
  const refused = (why: string, hint: string): LookAsked => ({ answer: 'refused', why, hint })
  const system = systemSchedule(row.name)
  if (system !== null) return refused(`the schedule belongs to ${system.of}`, `It is changed by \`${system.change}\`.`)
  if (planner === null) return refused('no model is set', 'Set one with `belfry planner set`; rules work without one.')
  if (planner.paused !== null) return refused('planners are paused', 'Resume them with `belfry planner resume`.')
  if ((yield* autonomyOf(context, row)) === 'off') {
    return refused('its autonomy is off', `Change it with \`belfry schedule update ${name} --autonomy suggest\`.`)
  }
  const now = yield* clockNow()
  const held = (yield* holdsOn(context, { queue: plannerQueue })).find((hold) => isInForce(hold, now))
  if (held !== undefined) {
    const until = held.until === null ? '' : ` until ${new Date(held.until).toISOString()}`
    return refused(`queue ${plannerQueue} is held${until}: ${held.reason}`, 'See it with `belfry hold list`.')
  }
  const run = yield* enqueueLook(context, { schedule: row.name, provider: planner.spec.provider, isAsked: true })
  return { answer: 'enqueued', run }
}

const findSteered = both(
  'planner find steered',
  `select schedule_id from belfry.hint where ns = $1 and ended_at is null and author_kind in ('planner', 'agent')`,
)
const findPaused = both(
  'planner find paused',
  `select id as schedule_id from belfry.schedule where ns = $1 and paused_until is not null
    and (steering like '%"by":"planner"%' or steering like '%"by":"agent"%') and deleted_at is null`,
)

/** Pauses all planners, with or without a model: none looks or acts. `clearHints` also ends the hints and pauses of planners and agents. */
export function* pausePlanner(
  context: StoreContext,
  { paused, clearHints }: { paused: PlannerRow['paused']; clearHints: boolean },
): Step<{ cleared: number }> {
  yield* writePlannerPause(context, paused)
  if (!clearHints) return { cleared: 0 }
  const now = yield* clockNow()
  const found = [...(yield* all<Row>(findSteered, context.ns)), ...(yield* all<Row>(findPaused, context.ns))]
  const rows = yield* lockSchedules([...new Set(found.map(({ schedule_id: id }) => id as number))], { wait: true })
  // A person's switch clears what has the rank of planners: hints of rules and persons stay, and the rate limit does not apply.
  for (const row of rows.values()) {
    const author = { kind: 'planner' as AuthorKind, name: 'belfry planner pause' }
    const unrated = { ...row, steering: row.steering === null ? null : { ...row.steering, changesAt: [] } }
    const cleared = yield* clearHintsOf(context, unrated, { kinds: hintKinds, author, now })
    const after = cleared.answer === 'cleared' ? cleared.row : row
    if (after.pausedUntil !== null) yield* endPausesOf(context, after, { author, now })
  }
  return { cleared: rows.size }
}
pausePlanner.audits = () => ({ detail: {} })

export interface PlannerSums {
  readonly looks: number
  readonly failed: number
  readonly tokens: number
  readonly cost: string
  readonly proposals: number
  readonly approved: number
  readonly hints: { readonly ended: number; readonly starts: number; readonly failures: number }
  readonly due: number
}

const spanMs = 30 * 86_400_000
const rowsMax = 5_000
const findTold = both(
  'planner find told',
  'select state, run_id, at, told from belfry.analysis where ns = $1 and at > $2 order by at desc limit $3',
)
const countProposals = both(
  'planner count proposals',
  `select count(*) as made, sum(case when state = 'approved' then 1 else 0 end) as approved from belfry.proposal where ns = $1 and created_at > $2`,
)
const countDue = both(
  'planner count due',
  'select count(*) as due from belfry.planner_look where ns = $1 and look_at <= $2',
)
const sumHints = both(
  'planner sum hints',
  `select count(*) as ended, sum((select count(*) from belfry.ledger l where l.schedule_id = h.schedule_id and l.run_id is not null
      and l.from_at >= h.created_at and l.from_at < h.ended_at)) as starts,
    sum((select count(*) from belfry.ledger l where l.schedule_id = h.schedule_id and l.outcome = 'failed'
      and l.from_at >= h.created_at and l.from_at < h.ended_at)) as failures
    from (select schedule_id, created_at, ended_at from belfry.hint where ns = $1 and author_kind = 'planner' and ended_at is not null
      and created_at > $2 order by created_at desc limit 500) h`,
)

/** What planners did, what they cost and how their hints turned out, within 30 days. */
export function* plannerSums({ ns }: StoreContext): Step<PlannerSums> {
  const now = yield* clockNow()
  const rows = yield* all<Row>(findTold, ns, now - spanMs, rowsMax)
  const told = rows.map((row) => shown(row.told) as AnalysisTold)
  const known = told.flatMap(({ money }) => (money === null ? [] : [money]))
  const [currency] = known.map((money) => money.currency)
  const isKnown =
    currency !== undefined && known.length === told.length && known.every((money) => money.currency === currency)
  const proposals = (yield* one<Row>(countProposals, ns, now - spanMs)) as Row
  const hints = (yield* one<Row>(sumHints, ns, now - spanMs)) as Row
  const due = (yield* one<Row>(countDue, ns, now)) as Row
  return {
    looks: rows.length,
    failed: rows.filter((row) => analysisState(row, now) === 'failed').length,
    tokens: told.reduce((sum, { usage }) => sum + (usage.tokensIn ?? 0) + (usage.tokensOut ?? 0), 0),
    cost: isKnown ? formatMoney({ amount: known.reduce((sum, { amount }) => sum + amount, 0), currency }) : 'unknown',
    proposals: Number(proposals.made),
    approved: Number(proposals.approved ?? 0),
    hints: { ended: Number(hints.ended), starts: Number(hints.starts ?? 0), failures: Number(hints.failures ?? 0) },
    due: Number(due.due),
  }
}
