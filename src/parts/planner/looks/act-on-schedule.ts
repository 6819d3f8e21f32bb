import { formatDuration } from '../../../core/duration.ts'
import { formatId, parseId } from '../../../core/id.ts'
import { foresee } from '../../../core/schedule/foresee.ts'
import type { Author } from '../../../core/schedule/hint-author.ts'
import { hintBounds } from '../../../core/schedule/hint-bounds.ts'
import { withHint } from '../../../core/schedule/hints.ts'
import { planned } from '../../../core/schedule/next-plan.ts'
import type { ScheduleState } from '../../../core/schedule/state.ts'
import { withPauseOf } from '../../../core/schedule/steering.ts'
import { raise } from '../../../store/raise.ts'
import { lockNamedSchedule, type ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { boundsOf } from '../../../store/schedules/steer-schedule.ts'
import { both, clockNow, freshIds, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { autonomyOf, findPlanner } from '../planner-row.ts'
import { type SteeringEffect, steer } from '../steer.ts'
import { lookSooner } from './look-rows.ts'

export const proposalIds = { letter: 'p' } as const
const proposalMs = 3_600_000

/** What a planner wants, with what it saw: a person's edit, pause or hint since then supersedes it. */
export interface PlannedAction {
  readonly schedule: string
  readonly version: number
  readonly epoch: number
  readonly analysisId: number | null
  readonly author: Author
  readonly effect: SteeringEffect
  readonly reason: string
  /** How far it may go where nothing says so. */
  readonly otherwise?: 'suggest' | undefined
}

export type ActionAnswer =
  | { readonly answer: 'done'; readonly clamped: string | null; readonly outranked: boolean }
  | { readonly answer: 'proposed'; readonly proposal: string }
  | { readonly answer: 'refused'; readonly code: string; readonly why: string; readonly liftsAt?: number | undefined }

/** Does what a planner wants, or proposes it, as the autonomy of the schedule says. The one way of every tool. */
export function* actOnSchedule(context: StoreContext, action: PlannedAction): Step<ActionAnswer> {
  const row = yield* lockNamedSchedule(context, action.schedule)
  if (row === null) return refused('not-found', 'the schedule does not exist any more')
  if (row.version !== action.version || row.hintEpoch !== action.epoch) {
    return refused('superseded', 'a person has changed, paused or hinted the schedule since this look began')
  }
  if ((yield* findPlanner(context))?.paused != null) return refused('not-allowed', 'planners are paused')
  const autonomy = yield* autonomyOf(context, row)
  if (autonomy === 'off' && action.otherwise === undefined) return refused('not-allowed', 'its autonomy is off')
  if (autonomy === 'off' && row.spec.autonomy === 'off') return refused('not-allowed', 'its autonomy is off')
  if (autonomy !== 'act') return yield* propose(context, row, action)
  return yield* carryOut(context, row, action)
}
actOnSchedule.audits = (answer: ActionAnswer, [{ author, effect }]: [PlannedAction]) =>
  answer.answer === 'refused'
    ? null
    : { detail: { by: `planner ${author.name}`, effect: effect.kind, answer: answer.answer } }

export function* carryOut(
  context: StoreContext,
  row: ScheduleRow,
  { author, effect, reason }: Pick<PlannedAction, 'author' | 'effect' | 'reason'>,
): Step<ActionAnswer> {
  const now = yield* clockNow()
  const steered = yield* steer(context, row, { now, author, effect, reason })
  if (steered.answer === 'refused') {
    const { code, problem, expected, liftsAt } = steered.refusal
    return { answer: 'refused', code, why: `it ${problem}; allowed: ${expected}`, liftsAt }
  }
  const { clamped, outranked } = steered
  // Half-way through its own pause a planner looks again, or a mistake would last as long as the pause.
  if (effect.kind === 'pause') yield* lookSooner(row.id, now + ((clamped?.to ?? effect.until) - now) / 2)
  return { answer: 'done', clamped: clamped === null ? null : `${clamped.why}: ${words(clamped)}`, outranked }
}

function words({ field, to }: { readonly field: string; readonly to: number }): string {
  return field === 'every' ? `every ${formatDuration(to)}` : `until ${new Date(to).toISOString()}`
}

function refused(code: string, why: string): ActionAnswer {
  return { answer: 'refused', code, why }
}

const insertProposal = both(
  'proposal insert',
  `insert into belfry.proposal (id, ns, schedule_id, analysis_id, state, author, effect, reason, version, epoch, foreseen, created_at, expires_at)
    values ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11, $12)`,
)
/** A newer proposal for the same schedule takes the place of an older one of its kind. */
const replaceProposals = both(
  'proposal replace',
  `update belfry.proposal set state = 'replaced', decided_at = $3 where ns = $1 and schedule_id = $2 and state = 'open'`,
)

function* propose(context: StoreContext, row: ScheduleRow, action: PlannedAction): Step<ActionAnswer> {
  const { effect, reason, author, analysisId } = action
  const now = yield* clockNow()
  const bounds = effect.kind === 'resume' ? null : boundsOf(row, { by: 'planner', wanted: wantedOf(effect, now), now })
  if (bounds?.answer === 'refused') {
    const { code, problem, expected, liftsAt } = bounds.refusal
    return { answer: 'refused', code, why: `it ${problem}; allowed: ${expected}`, liftsAt }
  }
  const [id] = (yield* freshIds(1)) as [number]
  const foreseen = { without: nextTen(row, now), with: nextTen(steeredRow(row, effect, now), now) }
  yield* run(replaceProposals, row.ns, row.id, now)
  yield* one(
    insertProposal,
    ...[id, row.ns, row.id, analysisId, author.name, JSON.stringify(effect), reason],
    ...[row.version, row.hintEpoch, JSON.stringify(foreseen), now, now + proposalMs],
  )
  const proposal = formatId(proposalIds, id)
  const happened = `has a proposal of its planner, ${proposal}`
  yield* raise(context, [{ event: 'proposal', scheduleId: row.id, happened, reason }])
  return { answer: 'proposed', proposal }
}

type Bounded = Parameters<typeof hintBounds>[0]['wanted']

function wantedOf(effect: Exclude<SteeringEffect, { kind: 'resume' }>, now: number): Bounded {
  switch (effect.kind) {
    case 'interval':
      return { kind: 'interval', ms: effect.ms, expiresAt: now + effect.ttlMs }
    case 'oneshot':
      return { kind: 'oneshot', at: effect.at, expiresAt: Math.min(effect.at + effect.ttlMs, now + 86_400_000) }
    default:
      return effect
  }
}

const instantsMax = 10

function nextTen(schedule: ScheduleState, now: number): number[] {
  const instants: number[] = []
  for (const { dueAt } of foresee({ now, schedule })) {
    instants.push(dueAt)
    if (instants.length >= instantsMax) break
  }
  return instants
}

/** The schedule as it would be with an effect, for its next instants. Nothing is written. */
export function steeredRow(row: ScheduleState, effect: SteeringEffect, now: number): ScheduleState {
  const again = (changed: ScheduleState) =>
    planned({ ...changed, nextRunAt: null, nextDueAt: null }, { now, lastRunId: row.waitsFor })
  if (effect.kind === 'resume') return again({ ...row, pausedUntil: null })
  if (effect.kind === 'clear') return again({ ...row, hints: {} })
  const bounds = hintBounds({ now, by: 'planner', wanted: wantedOf(effect, now), schedule: row.spec, state: row })
  if (bounds.answer === 'refused') return row
  const { wanted } = bounds
  if (wanted.kind === 'pause') {
    const until = wanted.until ?? now
    return again(withPauseOf(row, { by: 'planner', author: '', until, reason: '' }))
  }
  return wanted.kind === 'clear'
    ? row
    : again({ ...row, hints: withHint(row.hints, { ...wanted, by: 'planner' }, now) })
}

export function proposalNumber(id: string): number | null {
  return parseId(proposalIds, id)
}
