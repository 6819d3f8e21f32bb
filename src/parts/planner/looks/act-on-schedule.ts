import { formatDuration } from '../../../core/duration.ts'
import { formatId, parseId } from '../../../core/id.ts'
import { foresee } from '../../../core/schedule/foresee.ts'
import type { Author } from '../../../core/schedule/hint-author.ts'
import { type Clamped, proposed, type Refusal } from '../../../core/schedule/hint-bounds.ts'
import type { ScheduleState } from '../../../core/schedule/state.ts'
import { type SteeringEffect, steered, wantedOf } from '../../../core/steering/steered.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { raise } from '../../../store/raise.ts'
import { lockNamedSchedule, type ScheduleRow, saveSchedules } from '../../../store/schedules/schedule-row.ts'
import { boundsOf, everyMinOf } from '../../../store/schedules/steer-schedule.ts'
import { both, clockNow, freshIds, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { proposalMade } from '../planner-events.ts'
import { autonomyOf, findPlannerPause } from '../planner-row.ts'
import { effectInWords, steer } from '../steer.ts'
import { lookSooner } from './look-rows.ts'

export const proposalIds = { letter: 'p' } as const
const proposalMs = 3_600_000

/**
 * The action that a planner requests, with the version of the schedule that it saw. An edit, pause or hint of a person since then
 * supersedes the action.
 */
export interface PlannedAction {
  readonly schedule: string
  readonly version: number
  readonly epoch: number
  readonly analysisId: number | null
  readonly author: Author
  readonly effect: SteeringEffect
  readonly reason: string
  /** How far the action may go if the schedule's autonomy is `off`. Absent: the action is refused. */
  readonly otherwise?: 'suggest' | undefined
}

export type ActionAnswer =
  | { readonly answer: 'done'; readonly clamped: string | null; readonly outranked: boolean }
  | {
      readonly answer: 'proposed'
      readonly proposal: string
      readonly expiresAt: number
      /** The proposed action in words, and what a bound changed in it. */
      readonly wants: string
      readonly clamped: string | null
    }
  | { readonly answer: 'refused'; readonly code: string; readonly why: string; readonly liftsAt?: number | undefined }

/** Carries out or proposes the action of a planner, as the autonomy of the schedule says. Every tool acts through this function. */
export function* actOnSchedule(context: StoreContext, action: PlannedAction): Step<ActionAnswer> {
  const row = yield* lockNamedSchedule(context, action.schedule)
  if (row === null) return refused('not-found', 'the schedule does not exist any more')
  if (row.version !== action.version || row.hintEpoch !== action.epoch) {
    return refused('superseded', 'a person has changed, paused or hinted the schedule since this look began')
  }
  if ((yield* findPlannerPause(context)) !== null) return refused('not-allowed', 'planners are paused')
  const autonomy = yield* autonomyOf(context, row)
  if (autonomy === 'off' && action.otherwise === undefined) return refused('not-allowed', 'its autonomy is off')
  if (autonomy === 'off' && row.spec.autonomy === 'off') return refused('not-allowed', 'its autonomy is off')
  if (autonomy !== 'act') return yield* propose(context, row, action)
  return yield* carryOut(context, row, action)
}
actOnSchedule.audits = (answer: ActionAnswer, [{ author, effect }]: [PlannedAction]) =>
  answer.answer !== 'done'
    ? null
    : { detail: { by: `planner ${author.name}`, effect: effect.kind, answer: answer.answer } }

export function* carryOut(
  context: StoreContext,
  row: ScheduleRow,
  { author, effect, reason }: Pick<PlannedAction, 'author' | 'effect' | 'reason'>,
): Step<ActionAnswer> {
  const now = yield* clockNow()
  const done = yield* steer(context, row, { now, author, effect, reason })
  if (done.answer === 'refused') return refusedBy(done.refusal)
  const { clamped, outranked } = done
  // The planner looks again half-way through its own pause; otherwise a mistake would last as long as the pause.
  if (effect.kind === 'pause') yield* lookSooner(row.id, now + ((clamped?.to ?? effect.until) - now) / 2)
  return { answer: 'done', clamped: inWords(clamped), outranked }
}

function inWords(clamped: Clamped | null): string | null {
  if (clamped === null) return null
  const { field, to, why } = clamped
  return `${why}: ${field === 'every' ? `every ${formatDuration(to)}` : `until ${new Date(to).toISOString()}`}`
}

function refusedBy({ code, problem, expected, liftsAt }: Refusal): ActionAnswer {
  return { answer: 'refused', code, why: `it ${problem}; allowed: ${expected}`, liftsAt }
}

function refused(code: string, why: string): ActionAnswer {
  return { answer: 'refused', code, why }
}

const insertProposal = both(
  'proposal insert',
  `insert into belfry.proposal (id, ns, schedule_id, analysis_id, state, author, effect, reason, version, epoch, foreseen, created_at, expires_at)
    values ($1, $2, $3, $4, 'open', $5, $6, $7, $8, $9, $10, $11, $12)`,
)
/** A new proposal for a schedule replaces the open one. */
const replaceProposals = both(
  'proposal replace',
  `update belfry.proposal set state = 'replaced', decided_at = $3 where ns = $1 and schedule_id = $2 and state = 'open'`,
)

function* propose(context: StoreContext, row: ScheduleRow, action: PlannedAction): Step<ActionAnswer> {
  const { effect: asked, reason, author, analysisId } = action
  const now = yield* clockNow()
  const everyMinMs = yield* everyMinOf(context, row)
  const wanted = asked.kind === 'resume' ? null : wantedOf(asked, now)
  const bounds = wanted === null ? null : boundsOf(row, { by: 'planner', wanted, now, everyMinMs })
  if (bounds?.answer === 'refused') return refusedBy(bounds.refusal)
  const rated = proposed({ now, steering: row.steering })
  if (rated.answer === 'refused') return refusedBy(rated.refusal)
  yield* saveSchedules([{ ...row, steering: rated.steering }])
  const effect = bounded(asked, bounds?.clamped ?? null)
  const [id] = (yield* freshIds(1)) as [number]
  const after = steered(row, effect, { now, by: 'planner', everyMinMs })
  const foreseen = { without: nextTen(row, now), with: nextTen(after, now) }
  yield* run(replaceProposals, row.ns, row.id, now)
  yield* one(
    insertProposal,
    ...[id, row.ns, row.id, analysisId, author.name, JSON.stringify(effect), reason],
    ...[row.version, row.hintEpoch, JSON.stringify(foreseen), now, now + proposalMs],
  )
  const proposal = formatId(proposalIds, id)
  const happened = `has a proposal of its planner, ${proposal}`
  const actor = { name: author.name, door: 'planner', kind: 'agent' } as const
  const wants = effectInWords(effect)
  const detail = { schedule: row.name, wants, reason, expiresAt: now + proposalMs }
  yield* writeAudit(context, { actor, verb: proposalMade, subject: `proposal ${proposal}`, detail }, now)
  yield* raise(context, [{ event: 'proposal', scheduleId: row.id, happened, reason }])
  return { answer: 'proposed', proposal, expiresAt: now + proposalMs, wants, clamped: inWords(bounds?.clamped ?? null) }
}

/** A person must approve exactly what will be done, so the bounds are applied before the proposal is shown. */
function bounded(effect: SteeringEffect, clamped: Clamped | null): SteeringEffect {
  if (clamped === null) return effect
  if (effect.kind === 'interval') return { ...effect, ms: clamped.to }
  return effect.kind === 'pause' ? { ...effect, until: clamped.to } : effect
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

export function proposalNumber(id: string): number | null {
  return parseId(proposalIds, id)
}
