import { formatId, parseId } from '../../../core/id.ts'
import type { Usage } from '../../../core/run/usage.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import { all, both, clockNow, freshIds, one, type Row, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { shown } from '../../../store/table-codec.ts'
import { autonomyOf, findPlanner, type PlannerSpec } from '../planner-row.ts'
import type { LookFacts } from './look-facts.ts'
import { lookFacts } from './look-facts.ts'
import { findLook, saveLook } from './look-rows.ts'
import type { Submitted, ToolCall, Warning } from './look-session.ts'

export const analysisIds = { letter: 'a' } as const

/** What is kept of a look besides its facts. */
export interface AnalysisTold {
  readonly provider: string
  readonly model: string
  readonly promptHash: string | null
  readonly prompt: { readonly system: string; readonly user: string } | null
  readonly calls: readonly ToolCall[]
  readonly submitted: Submitted | null
  readonly usage: Usage
  /** Millionths of a currency; null: unknown. */
  readonly money: { readonly amount: number; readonly currency: string } | null
  readonly durationMs: number
  readonly warnings: readonly Warning[]
  readonly nextLookAt: number | null
  readonly failure: { readonly kind: string; readonly message: string } | null
}

export const analysisStates = ['running', 'completed', 'failed', 'unfinished'] as const
export type AnalysisState = (typeof analysisStates)[number]

export interface AnalysisRow {
  readonly id: string
  readonly schedule: string
  readonly run: string | null
  readonly state: AnalysisState
  readonly author: string
  readonly at: number
  readonly endedAt: number | null
  readonly facts: LookFacts
  readonly told: AnalysisTold
}

const insert = both(
  'analysis insert',
  `insert into belfry.analysis (id, ns, schedule_id, run_id, state, author, at, facts, told) values ($1, $2, $3, $4, 'running', $5, $6, $7, $8)`,
)
const finish = both(
  'analysis finish',
  `update belfry.analysis set state = $2, ended_at = $3, told = $4 where id = $1 and state = 'running' returning id`,
)
const columns = 'a.id, a.run_id, a.state, a.author, a.at, a.ended_at, a.facts, a.told, s.name'
const from = 'from belfry.analysis a join belfry.schedule s on s.id = a.schedule_id'
const find = both('analysis find', `select ${columns} ${from} where a.ns = $1 and a.id = $2`)
const list = both(
  'analysis list',
  `select ${columns} ${from} where a.ns = $1 and a.id < $2 order by a.id desc limit $3`,
)
const listOf = both(
  'analysis list of schedule',
  `select ${columns} ${from} where a.ns = $1 and a.schedule_id = $4 and a.id < $2 order by a.id desc limit $3`,
)
const sweep = both(
  'analysis sweep',
  ({ numbers: _ }) =>
    `delete from belfry.analysis where id in (select id from belfry.analysis where ns = $1 and at < $2 order by at limit $3) returning id`,
)
const sweepProposals = both(
  'proposal sweep',
  'delete from belfry.proposal where id in (select id from belfry.proposal where ns = $1 and created_at < $2 limit $3) returning id',
)

export type BegunLook =
  | { readonly answer: 'skipped'; readonly why: string }
  | {
      readonly answer: 'begun'
      readonly analysisId: number
      readonly facts: LookFacts
      readonly spec: PlannerSpec | null
    }

export interface LookWanted {
  readonly schedule: string
  readonly run: string | null
  readonly author: string
  /** A person asked for it: it is not skipped where nothing has ended since. */
  readonly isAsked?: boolean | undefined
}

const emptyTold: AnalysisTold = {
  provider: '',
  model: '',
  promptHash: null,
  prompt: null,
  calls: [],
  submitted: null,
  usage: {},
  money: null,
  durationMs: 0,
  warnings: [],
  nextLookAt: null,
  failure: null,
}

/** Begins a look: its facts are read and kept before a model is asked. */
export function* beginLook(
  context: StoreContext,
  { schedule, run: runId, author, isAsked }: LookWanted,
): Step<BegunLook> {
  const row = yield* findScheduleRow(context, schedule)
  if (row === null || row.deletedAt !== null) return { answer: 'skipped', why: 'no-schedule' }
  const now = yield* clockNow()
  const look = yield* findLook(row.id)
  const autonomy = yield* autonomyOf(context, row)
  const planner = yield* findPlanner(context)
  if (isAsked !== true && look?.lookedAt != null && (row.lastEndAt ?? 0) <= look.lookedAt) {
    yield* saveLook(row.ns, { ...look, lookAt: now + noDataMs, verdict: 'skipped: no-new-data' })
    return { answer: 'skipped', why: 'no-new-data' }
  }
  const facts = yield* lookFacts(context, row.name, autonomy, look?.verdict ?? null)
  if (facts === null) return { answer: 'skipped', why: 'no-schedule' }
  const [id] = (yield* freshIds(1)) as [number]
  const told = JSON.stringify(emptyTold)
  yield* run(insert, id, row.ns, row.id, parseId('run', runId), author, now, JSON.stringify(facts), told)
  return { answer: 'begun', analysisId: id, facts, spec: planner?.spec ?? null }
}

export const noDataMs = 300_000
const lookMsMin = 300_000
const lookMsMax = 86_400_000
const failedMsMax = 6 * 3_600_000

export interface EndedLook {
  readonly analysisId: number
  readonly state: Exclude<AnalysisState, 'running'>
  readonly told: AnalysisTold
}

/** Ends a look, and says when the next one is. Failed ones wait 5 min × 2^k, at most 6 h. */
export function* endLook(
  context: StoreContext,
  { analysisId, state, told }: EndedLook,
): Step<{ nextLookAt: number | null }> {
  const row = yield* one<Row>(find, context.ns, analysisId)
  if (row === undefined) return { nextLookAt: null }
  const now = yield* clockNow()
  const schedule = yield* findScheduleRow(context, row.name as string)
  if (schedule === null) return { nextLookAt: null }
  const look = yield* findLook(schedule.id)
  const fails = state === 'failed' ? (look?.fails ?? 0) + 1 : 0
  const wantedMs = told.submitted?.next_analysis_in_ms ?? schedule.spec.timing.everyMs ?? 3_600_000
  const waitMs =
    state === 'failed'
      ? Math.min(lookMsMin * 2 ** (fails - 1), failedMsMax)
      : Math.min(Math.max(wantedMs, lookMsMin), lookMsMax)
  // An action may have asked for an earlier look, half-way through its pause; the tick pushed the row far ahead meanwhile.
  const sooner = look !== null && look.lookAt > now && look.lookAt < now + waitMs && schedule.pausedUntil !== null
  const nextLookAt = sooner ? look.lookAt : now + waitMs
  const verdict = told.submitted?.reasoning ?? told.failure?.message ?? state
  const finished = yield* one(finish, analysisId, state, now, JSON.stringify({ ...told, nextLookAt }))
  if (finished === undefined) return { nextLookAt: null }
  yield* saveLook(schedule.ns, {
    scheduleId: schedule.id,
    lookAt: nextLookAt,
    lookedAt: now,
    fails,
    verdict: verdict.slice(0, 300),
  })
  return { nextLookAt }
}

export function* findAnalysis({ ns }: StoreContext, id: string): Step<AnalysisRow | null> {
  const row = yield* one<Row>(find, ns, parseId(analysisIds, id))
  return row === undefined ? null : analysisOf(row)
}

export function* listAnalyses(
  context: StoreContext,
  { schedule, before, limit }: { schedule?: string | undefined; before?: string | undefined; limit: number },
): Step<AnalysisRow[]> {
  const least = before === undefined ? Number.MAX_SAFE_INTEGER : (parseId(analysisIds, before) ?? 0)
  const found = schedule === undefined ? null : yield* findScheduleRow(context, schedule)
  if (schedule !== undefined && found === null) return []
  const rows =
    found === null ? yield* all(list, context.ns, least, limit) : yield* all(listOf, context.ns, least, limit, found.id)
  return rows.map(analysisOf)
}

function analysisOf(row: Row): AnalysisRow {
  return {
    id: formatId(analysisIds, row.id as number),
    schedule: row.name as string,
    run: row.run_id === null ? null : formatId('run', row.run_id as number),
    state: row.state as AnalysisState,
    author: row.author as string,
    at: row.at as number,
    endedAt: row.ended_at as number | null,
    facts: shown(row.facts) as LookFacts,
    told: shown(row.told) as AnalysisTold,
  }
}

const keptMs = 90 * 86_400_000

/** Removes analyses and proposals after 90 days. */
export function* sweepAnalyses({ context, now, rowsLeft }: Sweeping): Step<number> {
  const gone = yield* all(sweep, context.ns, now - keptMs, rowsLeft)
  const proposals = yield* all(sweepProposals, context.ns, now - keptMs, Math.max(0, rowsLeft - gone.length))
  return gone.length + proposals.length
}
