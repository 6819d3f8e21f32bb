import { formatId, parseId } from '../../../core/id.ts'
import type { Usage } from '../../../core/run/usage.ts'
import { periodFrom } from '../../../core/schedule/due.ts'
import { isWorkable } from '../../../core/schedule/workable.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { findScheduleRow } from '../../../store/reads/find-schedule.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, freshIds, one, type Row, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { shown } from '../../../store/table-codec.ts'
import { autonomyOf, findPlanner, type PlannerSpec } from '../planner-row.ts'
import { hasNews } from './has-news.ts'
import type { LookFacts } from './look-facts.ts'
import { lookFacts } from './look-facts.ts'
import { findLook, type LookRow, saveLook } from './look-rows.ts'
import type { Submitted, ToolCall, Warning } from './look-session.ts'

export const analysisIds = { letter: 'a' } as const

/** The stored record of a look besides its facts. */
export interface AnalysisTold {
  readonly provider: string
  readonly model: string
  readonly promptHash: string | null
  readonly prompt: { readonly system: string; readonly user: string } | null
  readonly calls: readonly ToolCall[]
  readonly submitted: Submitted | null
  readonly usage: Usage
  /** In millionths of a currency; null: unknown. */
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
const keep = both('analysis keep', `update belfry.analysis set told = $2 where id = $1 and state = 'running'`)
const findRunning = both(
  'analysis find running',
  `select id, told from belfry.analysis where ns = $1 and schedule_id = $2 and state = 'running' and run_id = $3`,
)
const findLast = both(
  'analysis find last',
  `select state, at, told from belfry.analysis where ns = $1 and schedule_id = $2 and state <> 'running' order by id desc limit 1`,
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
  /** A person requested the look: it is not skipped, even if no run has ended since the last look. */
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

const lost = { kind: 'lost', message: 'the process that looked has gone' } as const
/** A look by a run ends within 5 minutes and is tried once more; a session over MCP may last, but not for ever. */
const lostRunMs = 1_800_000
const lostSessionMs = 86_400_000

/** An analysis whose row says `running` is over once the process that looked must have gone. */
export function analysisState({ state, run_id: runId, at }: Row, now: number): AnalysisState {
  if (state !== 'running') return state as AnalysisState
  const [lostMs, lostState] =
    runId === null ? ([lostSessionMs, 'unfinished'] as const) : ([lostRunMs, 'failed'] as const)
  return (at as number) + lostMs <= now ? lostState : 'running'
}

/** Ends what earlier attempts of a run have left: their worker was killed. The tokens that they reported stay. */
function* endLost(
  ns: number,
  { scheduleId, runId, now }: { scheduleId: number; runId: number; now: number },
): Step<void> {
  for (const row of yield* all<Row>(findRunning, ns, scheduleId, runId)) {
    const told: AnalysisTold = { ...(shown(row.told) as AnalysisTold), failure: lost }
    yield* one(finish, row.id as number, 'failed', now, JSON.stringify(told))
  }
}

/** Keeps what a look has done and used so far, so that nothing of it vanishes with its process. */
export function* keepLook(_: StoreContext, { analysisId, told }: Pick<EndedLook, 'analysisId' | 'told'>): Step<void> {
  yield* run(keep, analysisId, JSON.stringify(told))
}

/** Begins a look: the facts are read and stored before a model is asked. */
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
  if (isAsked !== true && !hasNews(row, look, now)) {
    if (look !== null) yield* saveLook(row.ns, { ...look, lookAt: now + noDataMs, verdict: 'skipped: no-new-data' })
    return { answer: 'skipped', why: 'no-new-data' }
  }
  const ofRun = parseId('run', runId)
  if (ofRun !== null) yield* endLost(row.ns, { scheduleId: row.id, runId: ofRun, now })
  const last = yield* lastVerdict(row)
  const facts = yield* lookFacts(context, row.name, autonomy, last?.verdict ?? null)
  if (facts === null) return { answer: 'skipped', why: 'no-schedule' }
  const [id] = (yield* freshIds(1)) as [number]
  const told = JSON.stringify(emptyTold)
  yield* run(insert, id, row.ns, row.id, ofRun, author, now, JSON.stringify(facts), told)
  return { answer: 'begun', analysisId: id, facts, spec: planner?.spec ?? null }
}

export const noDataMs = 300_000
const lookMsMin = 300_000
const lookMsMax = 86_400_000
const failedMsMax = 6 * 3_600_000
/** For schedules without a period. */
const lookMsDefault = 3_600_000

export interface EndedLook {
  readonly analysisId: number
  readonly state: Exclude<AnalysisState, 'running'>
  readonly told: AnalysisTold
}

/** Ends a look, and plans the next one. After failed looks the wait is 5 min × 2^k, at most 6 h. */
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
  const wantedMs = told.submitted?.next_analysis_in_ms ?? periodOf(schedule.spec, now) ?? lookMsDefault
  const waitMs =
    state === 'failed'
      ? Math.min(lookMsMin * 2 ** (fails - 1), failedMsMax)
      : Math.min(Math.max(wantedMs, lookMsMin), lookMsMax)
  const begunAt = row.at as number
  const nextLookAt = Math.min(now + waitMs, hurriedTo(look, { begunAt, now, schedule }))
  const verdict = verdictOf(told, state)
  const finished = yield* one(finish, analysisId, state, now, JSON.stringify({ ...told, nextLookAt }))
  if (finished === undefined) return { nextLookAt: null }
  yield* saveLook(schedule.ns, {
    scheduleId: schedule.id,
    lookAt: nextLookAt,
    // What has ended while the model was asked is news for the next look.
    lookedAt: begunAt,
    fails,
    verdict,
  })
  return { nextLookAt }
}

function verdictOf({ submitted, failure }: AnalysisTold, state: AnalysisState): string {
  return (submitted?.reasoning ?? failure?.message ?? state).slice(0, 300)
}

/** What the last look at a schedule came to. The row of its next look also says why there was none since. */
export function* lastVerdict({
  ns,
  id,
}: Pick<ScheduleRow, 'ns' | 'id'>): Step<{ readonly at: number; readonly verdict: string } | null> {
  const row = yield* one<Row>(findLast, ns, id)
  if (row === undefined) return null
  return { at: row.at as number, verdict: verdictOf(shown(row.told) as AnalysisTold, row.state as AnalysisState) }
}

/**
 * The instant to which the next look was moved during a look: at once, if failures grew meanwhile; or half-way through a pause. Before the
 * look, the search for due looks has moved the next one far ahead.
 */
function hurriedTo(
  look: LookRow | null,
  { begunAt, now, schedule }: { begunAt: number; now: number; schedule: Pick<ScheduleRow, 'pausedUntil'> },
): number {
  if (look === null || look.lookAt <= begunAt) return Number.POSITIVE_INFINITY
  if (look.lookAt <= now) return now
  return schedule.pausedUntil === null ? Number.POSITIVE_INFINITY : look.lookAt
}

function periodOf(spec: ScheduleRow['spec'], now: number): number | null {
  return isWorkable(spec) ? periodFrom(spec.timing, now) : null
}

export function* findAnalysis({ ns }: StoreContext, id: string): Step<AnalysisRow | null> {
  const row = yield* one<Row>(find, ns, parseId(analysisIds, id))
  return row === undefined ? null : analysisOf(row, yield* clockNow())
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
  const now = yield* clockNow()
  return rows.map((row) => analysisOf(row, now))
}

function analysisOf(row: Row, now: number): AnalysisRow {
  const state = analysisState(row, now)
  const told = shown(row.told) as AnalysisTold
  return {
    id: formatId(analysisIds, row.id as number),
    schedule: row.name as string,
    run: row.run_id === null ? null : formatId('run', row.run_id as number),
    state,
    author: row.author as string,
    at: row.at as number,
    endedAt: row.ended_at as number | null,
    facts: shown(row.facts) as LookFacts,
    told: state === row.state ? told : { ...told, failure: lost },
  }
}

const keptMs = 90 * 86_400_000

/** Removes analyses and proposals after 90 days. */
export function* sweepAnalyses({ context, now, rowsLeft }: Sweeping): Step<number> {
  const gone = yield* all(sweep, context.ns, now - keptMs, rowsLeft)
  const proposals = yield* all(sweepProposals, context.ns, now - keptMs, Math.max(0, rowsLeft - gone.length))
  return gone.length + proposals.length
}
