import {
  type BudgetState,
  charged,
  free,
  nothing,
  type Reservation as Reserved,
  type Spent,
  settle,
  stateAt,
  withRecent,
} from '../../../core/budget/budget.ts'
import { formatId } from '../../../core/id.ts'
import type { Usage } from '../../../core/run/usage.ts'
import { noopReason } from '../../../core/run/verdict.ts'
import type { Ends, MovedSchedule, RunEnd } from '../../../store/runs/end-hooks.ts'
import { freeDeferred } from '../../../store/runs/free-deferred.ts'
import { dialects, each, type Row, runEach, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { accountsUsed } from '../accounts/account-used.ts'
import { budgetReason } from './budget-hold.ts'
import {
  type Budget,
  budgetsOf,
  lockBudgets,
  type Reservation,
  reservationColumns,
  reservationOf,
} from './budget-row.ts'
import { type BudgetWork, fits, likeness, workOf } from './budget-scope.ts'
import { save, tokensOf } from './reserve-budget.ts'

const ofAttempt = `select ${reservationColumns} from belfry.budget_reservation where run_id`
const findReservations = dialects('budget find reservations', {
  sqlite: `${ofAttempt} = $1 and fence = $2 and settled_at is null`,
  postgres: `select ${reservationColumns.replaceAll(/\w+/g, 'r.$&')} from unnest($1::bigint[], $2::int[]) as i (run_id, fence)
    join belfry.budget_reservation r on r.run_id = i.run_id and r.fence = i.fence where r.settled_at is null`,
})
const removeReservations = dialects('budget remove reservations', {
  sqlite: 'delete from belfry.budget_reservation where run_id = $1 and fence = $2 and budget_id = $3',
  postgres: `delete from belfry.budget_reservation r using unnest($1::bigint[], $2::int[], $3::bigint[]) as i (run_id, fence, budget_id)
    where r.run_id = i.run_id and r.fence = i.fence and r.budget_id = i.budget_id`,
})
/** What earlier attempts of a run were charged is forgotten with the run. */
const removeOfRuns = dialects('budget remove of runs', {
  sqlite: 'delete from belfry.budget_reservation where run_id = $1',
  postgres: 'delete from belfry.budget_reservation where run_id = any ($1::bigint[])',
})
const chargeOfRun = dialects('budget charge of run', {
  sqlite:
    'update belfry.budget_reservation set amounts = $4, settled_at = $5 where run_id = $1 and fence = $2 and budget_id = $3',
  postgres: `update belfry.budget_reservation r set amounts = i.amounts, settled_at = i.at
    from unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::bigint[]) as i (run_id, fence, budget_id, amounts, at)
    where r.run_id = i.run_id and r.fence = i.fence and r.budget_id = i.budget_id`,
})
const facts = `select d.id, d.target, d.options, q.name as queue, s.name as schedule from belfry.run d
  join belfry.queue q on q.id = d.queue_id left join belfry.schedule s on s.id = d.schedule_id where d.id`
const findRuns = dialects('budget find runs', {
  sqlite: `${facts} = $1`,
  postgres: `${facts} = any ($1::bigint[])`,
})
const usageColumns = `run_id, fence, ns, schedule_id, kind, name, account, tags, tokens_in, tokens_out, tokens_cached, money,
  currency, runtime_ms, is_completed, is_noop, at`
const insertUsage = dialects('usage insert', {
  sqlite: `insert into belfry.attempt_usage (${usageColumns})
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) on conflict (run_id, fence) do nothing`,
  postgres: `insert into belfry.attempt_usage (${usageColumns}) select * from unnest($1::bigint[], $2::int[], $3::bigint[],
    $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[],
    $13::text[], $14::bigint[], $15::smallint[], $16::smallint[], $17::bigint[]) on conflict (run_id, fence) do nothing`,
})

/** An ended attempt with what it had reserved, and what is known of its run. */
interface EndedWork {
  readonly end: RunEnd
  readonly reservations: readonly Reservation[]
  readonly work: BudgetWork
  readonly didWork: boolean
  /** Whether it found nothing to do; `null`: no rule says so. */
  readonly isNoop: boolean | null
  readonly runtimeMs: number
}

/**
 * Settles what ended attempts had reserved, and keeps what they used. An attempt with a plain end reserved nothing and
 * reported nothing. A lost attempt cannot say whether it had reserved something, so its reservation is looked up.
 */
export function* settleEnds(context: StoreContext, { now, ends }: Ends<MovedSchedule>): Step<void> {
  const asked = ends.filter(({ fence, usage, isWatched, outcome }) => {
    return fence > 0 && (usage !== undefined || isWatched === true || outcome === 'lost')
  })
  if (asked.length === 0) return
  const found = yield* each(
    findReservations,
    asked.map(({ runId, fence }) => [runId, fence]),
  )
  const reservations = found.map(reservationOf)
  const counted = asked.filter(({ runId, usage }) => usage !== undefined || reservations.some((r) => r.runId === runId))
  if (counted.length > 0) yield* settleCounted(context, now, yield* withRuns(context, now, counted, reservations))
}
settleEnds.skipsPlain = true as const

function* withRuns(
  context: StoreContext,
  now: number,
  ends: readonly RunEnd[],
  all: readonly Reservation[],
): Step<EndedWork[]> {
  const rows = yield* each(
    findRuns,
    ends.map(({ runId }) => [runId]),
  )
  const runs = new Map(rows.map((row) => [row.id as number, row]))
  const works: EndedWork[] = []
  for (const end of ends) {
    const reservations = all.filter(({ runId }) => runId === end.runId)
    const startedAt = end.startedAt ?? reservations[0]?.reservedAt ?? now
    const didWork = !['released', 'deferred', 'skipped'].includes(end.outcome)
    const { options, ...known } = knownOf(end, runs.get(end.runId))
    const account = (options.account ?? []).length > 1 ? yield* accountOf(context, end) : null
    const work = account === null ? known.work : { ...known.work, account }
    works.push({ end, reservations, ...known, work, didWork, runtimeMs: Math.max(0, now - startedAt) })
  }
  return works
}

/** Of several accounts the attempt has used one. */
function* accountOf(context: StoreContext, { runId, ns, fence }: RunEnd): Step<string | null> {
  const used = yield* accountsUsed({ ...context, ns }, formatId('run', runId))
  return used.find((one) => one.fence === fence)?.account ?? null
}

interface KnownOptions {
  readonly expect?: { readonly noop?: unknown }
  readonly account?: readonly string[]
}

function knownOf(
  { status, reason }: RunEnd,
  row: Row | undefined,
): Pick<EndedWork, 'work' | 'isNoop'> & { readonly options: KnownOptions } {
  const parsed = (text: unknown) => (typeof text === 'string' ? JSON.parse(text) : null)
  const options: KnownOptions = parsed(row?.options) ?? {}
  const work = workOf({
    queue: (row?.queue ?? '') as string,
    schedule: (row?.schedule ?? null) as string | null,
    target: parsed(row?.target),
    options: { ...options },
  })
  const isJudged = status === 'completed' && options.expect?.noop !== undefined
  return { options, work, isNoop: isJudged ? reason === noopReason : null }
}

function* settleCounted(context: StoreContext, now: number, works: readonly EndedWork[]): Step<void> {
  const budgets = yield* lockConcerned(works)
  const states = new Map<number, BudgetState>()
  const runCharges: { reservation: Reservation; amounts: Reserved }[] = []
  for (const budget of budgets.filter(({ terms }) => terms.per !== 'run')) {
    const before = stateAt(budget.terms, budget.state, now)
    const after = works.reduce((state, one) => settledBy(budget, state, one), before)
    states.set(budget.id, after)
  }
  for (const one of works.filter(({ end }) => !end.isOver)) {
    for (const reservation of one.reservations) {
      const terms = budgets.find(({ id }) => id === reservation.budgetId)?.terms
      if (terms?.per !== 'run') continue
      const spent = spentBy(one, terms.currency)
      runCharges.push({ reservation, amounts: spent === null ? nothing : charged(reservation.amounts, spent) })
    }
  }
  yield* save(
    context,
    budgets.flatMap((budget) => {
      const state = states.get(budget.id)
      return state === undefined ? [] : [{ budget, state }]
    }),
    { now },
  )
  for (const ns of blindIn(works)) yield* freeDeferred({ ...context, ns }, budgetReason.code, now)
  yield* forget(works, runCharges, now)
  yield* runEach(
    insertUsage,
    works.filter(({ end, didWork }) => didWork || end.usage !== undefined).map((one) => usageTuple(one, now)),
  )
}

/** The namespaces in which a run without an estimate has ended: others wait for its end. */
function blindIn(works: readonly EndedWork[]): ReadonlySet<number> {
  const ended = works.filter(({ reservations }) => reservations.some(({ amounts }) => (amounts.blind ?? 0) > 0))
  return new Set(ended.map(({ end }) => end.ns))
}

/**
 * The budgets of the reservations. An attempt without a reservation began before its worker knew of a budget; every budget
 * that counts it is used.
 */
function* lockConcerned(works: readonly EndedWork[]): Step<Budget[]> {
  const ids = new Set(works.flatMap(({ reservations }) => reservations.map(({ budgetId }) => budgetId)))
  const bare = works.filter(({ reservations }) => reservations.length === 0)
  for (const ns of new Set(bare.map(({ end }) => end.ns))) {
    const ofNamespace = bare.filter(({ end }) => end.ns === ns)
    for (const budget of yield* budgetsOf(ns)) {
      if (ofNamespace.some(({ work }) => fits(budget, work))) ids.add(budget.id)
    }
  }
  return yield* lockBudgets(ids)
}

/** What becomes of a budget by the end of an attempt. */
function settledBy(budget: Budget, state: BudgetState, one: EndedWork): BudgetState {
  const { reservations, work, end } = one
  const reservation = reservations.find(({ budgetId }) => budgetId === budget.id)
  const isBare = reservations.length === 0 && end.ns === budget.ns && fits(budget, work)
  // What was reserved in an older period counts there.
  if (reservation === undefined ? !isBare : reservation.from !== state.from) return state
  const reserved = reservation?.amounts ?? nothing
  const spent = spentBy(one, budget.terms.currency)
  if (spent === null) return free(state, reserved)
  const settled = settle(budget.terms, state, { reserved, spent })
  // The runs of a schedule have their own history.
  return end.scheduleId === null && one.didWork ? withRecent(budget.terms, settled, likeness(work), spent) : settled
}

/** What an attempt came to; `null` where it began nothing. Money of another currency is unknown. */
function spentBy({ end, didWork, runtimeMs }: EndedWork, currency: string | undefined): Spent | null {
  const { usage = {} as Usage } = end
  if (!didWork && end.usage === undefined) return null
  const unreported = didWork ? null : 0
  return {
    runs: didWork ? 1 : 0,
    tokens: tokensOf(usage.tokensIn, usage.tokensOut) ?? unreported,
    money: usage.money?.currency === currency ? (usage.money?.amount ?? unreported) : unreported,
    runtimeMs,
  }
}

function* forget(
  works: readonly EndedWork[],
  runCharges: readonly { readonly reservation: Reservation; readonly amounts: Reserved }[],
  now: number,
): Step<void> {
  const kept = new Set(runCharges.map(({ reservation }) => reservation))
  yield* runEach(
    removeReservations,
    works.flatMap(({ reservations }) =>
      reservations.filter((one) => !kept.has(one)).map(({ runId, fence, budgetId }) => [runId, fence, budgetId]),
    ),
  )
  yield* runEach(
    chargeOfRun,
    runCharges.map(({ reservation: { runId, fence, budgetId }, amounts }) => {
      return [runId, fence, budgetId, JSON.stringify(amounts), now]
    }),
  )
  yield* runEach(
    removeOfRuns,
    works.filter(({ end }) => end.isOver && end.fence > 1).map(({ end }) => [end.runId]),
  )
}

function usageTuple({ end, work, runtimeMs, isNoop }: EndedWork, now: number) {
  const { runId, fence, ns, scheduleId, status, usage = {} as Usage } = end
  const { tokensIn = null, tokensOut = null, tokensCached = null, money } = usage
  return [
    ...[runId, fence, ns, scheduleId, work.kind, work.name, work.account, JSON.stringify(work.tags)],
    ...[tokensIn, tokensOut, tokensCached, money?.amount ?? null, money?.currency ?? null],
    ...[runtimeMs, status === 'completed' ? 1 : 0, isNoop === null ? null : Number(isNoop), now],
  ]
}
