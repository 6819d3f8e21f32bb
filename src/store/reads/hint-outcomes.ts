import type { NextDecision } from '../../core/schedule/decision.ts'
import type { AuthorKind } from '../../core/schedule/hint-author.ts'
import { comparedMs, hintOutcome, type LedgerRun } from '../../core/timing/hint-outcome.ts'
import { all, both, clockNow, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { shown } from '../table-codec.ts'
import type { HintView, HintWithOutcome } from '../views.ts'
import { findScheduleRow, listHints } from './find-schedule.ts'

const findRuns = both(
  'read runs of hints',
  `select from_at, outcome, decision from belfry.ledger
    where schedule_id = $1 and from_at >= $2 and from_at < $3 and run_id is not null order by from_at desc limit $4`,
)

/** The most rows of the ledger that are read at once. */
const ledgerRowsMax = 5_000

/** The hints of a schedule with their outcomes, newest first. */
export function* hintsWithOutcomes(
  context: StoreContext,
  name: string,
  { limit = Number.POSITIVE_INFINITY, by }: { readonly limit?: number; readonly by?: AuthorKind } = {},
): Step<HintWithOutcome[]> {
  const found = yield* listHints(context, name)
  const hints = found.filter((hint) => by === undefined || hint.by === by).slice(0, limit)
  const schedule = yield* findScheduleRow(context, name)
  if (hints.length === 0 || schedule === null) return []
  const now = yield* clockNow()
  const lives = hints.map((hint) => ({ createdAt: hint.createdAt, endedAt: endOf(hint, now) }))
  const ended = lives.flatMap(({ endedAt, ...life }) => (endedAt === null ? [] : [{ ...life, endedAt }]))
  const from = Math.min(...ended.map(({ createdAt }) => createdAt)) - comparedMs
  const to = Math.max(...ended.map(({ endedAt }) => endedAt))
  const rows = ended.length === 0 ? [] : yield* all(findRuns, schedule.id, from, to, ledgerRowsMax)
  const isCut = rows.length === ledgerRowsMax
  const sinceAt = isCut ? (rows.at(-1)?.from_at as number) : Math.max(from, schedule.createdAt)
  const runs = rows.map(runOf)
  return hints.map((hint, index) => {
    const { createdAt, endedAt = null } = lives[index] ?? {}
    const isOver = createdAt !== undefined && endedAt !== null
    return { ...hint, outcome: isOver ? hintOutcome({ hint: { createdAt, endedAt }, runs, sinceAt }) : null }
  })
}

function endOf({ ended, expiresAt }: HintView, now: number): number | null {
  return ended?.at ?? (expiresAt <= now ? expiresAt : null)
}

function runOf({ from_at: at, outcome, decision }: Row): LedgerRun {
  const { winner } = (shown(decision) ?? {}) as Partial<NextDecision>
  return {
    at: at as number,
    hasFailed: outcome === 'failed' || outcome === 'parked',
    isBaseline: winner === 'baseline',
  }
}
