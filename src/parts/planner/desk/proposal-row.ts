import { formatId } from '../../../core/id.ts'
import type { SteeringEffect } from '../../../core/steering/steered.ts'
import type { Actor } from '../../../store/port.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, dialects, one, type Row, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { shown } from '../../../store/table-codec.ts'
import { type ActionAnswer, carryOut, proposalIds, proposalNumber } from '../looks/act-on-schedule.ts'
import { analysisIds } from '../looks/analysis-row.ts'

export const proposalStates = ['open', 'approved', 'declined', 'replaced', 'expired', 'superseded'] as const
export type ProposalState = (typeof proposalStates)[number]

/** An action that a planner proposes, for a person to decide. */
export interface Proposal {
  readonly id: string
  readonly schedule: string
  readonly analysis: string | null
  readonly state: ProposalState
  readonly author: string
  readonly effect: SteeringEffect
  readonly reason: string
  readonly createdAt: number
  readonly expiresAt: number
  readonly decidedAt: number | null
  readonly decidedBy: string | null
  /** The next instants without the proposal, and with it. */
  readonly without: readonly number[]
  readonly with: readonly number[]
}

const columns = `p.id, p.schedule_id, p.analysis_id, p.state, p.author, p.effect, p.reason, p.version, p.epoch, p.foreseen,
  p.created_at, p.expires_at, p.decided_at, p.decided_by, s.name, s.version as now_version, s.hint_epoch as now_epoch`
const from = 'from belfry.proposal p join belfry.schedule s on s.id = p.schedule_id'
const find = both('proposal find', `select ${columns} ${from} where p.ns = $1 and p.id = $2`)
const lock = dialects('proposal lock', {
  sqlite: `select ${columns} ${from} where p.ns = $1 and p.id = $2`,
  postgres: `select ${columns} ${from} where p.ns = $1 and p.id = $2 for no key update of p`,
})
const listOpen = both(
  'proposal list open',
  `select ${columns} ${from} where p.ns = $1 and p.state = 'open' and p.expires_at > $2 order by p.id desc limit $3`,
)
const listAll = both(
  'proposal list',
  `select ${columns} ${from} where p.ns = $1 and p.id < $2 order by p.id desc limit $3`,
)
const decide = both(
  'proposal decide',
  'update belfry.proposal set state = $2, decided_at = $3, decided_by = $4 where id = $1',
)

export function* findProposal({ ns }: StoreContext, id: string): Step<Proposal | null> {
  const row = yield* one<Row>(find, ns, proposalNumber(id))
  return row === undefined ? null : proposalOf(row, yield* clockNow())
}

export function* listProposals(
  { ns }: StoreContext,
  { isAll, before, limit }: { isAll: boolean; before?: string | undefined; limit: number },
): Step<Proposal[]> {
  const now = yield* clockNow()
  const least = before === undefined ? Number.MAX_SAFE_INTEGER : (proposalNumber(before) ?? 0)
  const rows = isAll ? yield* all<Row>(listAll, ns, least, limit) : yield* all<Row>(listOpen, ns, now, limit)
  return rows.map((row) => proposalOf(row, now)).filter(({ state }) => isAll || state === 'open')
}

/** A proposal whose row says `open` may be over: it has expired, or a person has changed the schedule. */
function stateOf(row: Row, now: number): ProposalState {
  if (row.state !== 'open') return row.state as ProposalState
  if (row.version !== row.now_version || row.epoch !== row.now_epoch) return 'superseded'
  return (row.expires_at as number) <= now ? 'expired' : 'open'
}

function proposalOf(row: Row, now: number): Proposal {
  const foreseen = (shown(row.foreseen) ?? {}) as { without?: number[]; with?: number[] }
  return {
    id: formatId(proposalIds, row.id as number),
    schedule: row.name as string,
    analysis: row.analysis_id === null ? null : formatId(analysisIds, row.analysis_id as number),
    state: stateOf(row, now),
    author: row.author as string,
    effect: shown(row.effect) as SteeringEffect,
    reason: row.reason as string,
    createdAt: row.created_at as number,
    expiresAt: row.expires_at as number,
    decidedAt: row.decided_at as number | null,
    decidedBy: row.decided_by as string | null,
    without: foreseen.without ?? [],
    with: foreseen.with ?? [],
  }
}

export type Decided =
  | { readonly answer: 'not-found' }
  | { readonly answer: 'over'; readonly proposal: Proposal }
  | { readonly answer: 'passed'; readonly proposal: Proposal }
  | { readonly answer: 'refused'; readonly refusal: Extract<ActionAnswer, { answer: 'refused' }> }
  | {
      readonly answer: 'decided'
      readonly proposal: Proposal
      /** A hint of a higher rank counts in its place until that ends. */
      readonly outranked: boolean
    }

/** Decides an open proposal. The duration of an approved action begins at the decision, and the bounds are checked then. */
export function* decideProposal(
  context: StoreContext,
  id: string,
  { decision, actor }: { decision: 'approved' | 'declined'; actor: Actor },
): Step<Decided> {
  const row = yield* one<Row>(lock, context.ns, proposalNumber(id))
  if (row === undefined) return { answer: 'not-found' }
  const now = yield* clockNow()
  const proposal = proposalOf(row, now)
  if (proposal.state !== 'open') return { answer: 'over', proposal }
  let outranked = false
  if (decision === 'approved') {
    const { effect, author, reason } = proposal
    if (effect.kind === 'oneshot' && effect.at < now) return { answer: 'passed', proposal }
    const schedule = (yield* lockSchedules([row.schedule_id as number], { wait: true })).get(row.schedule_id as number)
    if (schedule === undefined || schedule.deletedAt !== null) return { answer: 'not-found' }
    if (schedule.version !== row.version || schedule.hintEpoch !== row.epoch) {
      return { answer: 'over', proposal: { ...proposal, state: 'superseded' } }
    }
    const told = `${reason} (approved by ${actor.name})`.slice(0, 490)
    const done = yield* carryOut(context, schedule, { author: { kind: 'planner', name: author }, effect, reason: told })
    if (done.answer === 'refused') return { answer: 'refused', refusal: done }
    outranked = done.answer === 'done' && done.outranked
  }
  yield* run(decide, row.id as number, decision, now, actor.name)
  const decided = { ...proposal, state: decision, decidedAt: now, decidedBy: actor.name }
  return { answer: 'decided', proposal: decided, outranked }
}
decideProposal.audits = (answer: Decided) =>
  answer.answer === 'decided' ? { detail: { schedule: answer.proposal.schedule } } : null
