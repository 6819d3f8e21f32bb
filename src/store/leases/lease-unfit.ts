import { formatId } from '../../core/id.ts'
import type { LeaseAnswer, RunSource } from '../port.ts'
import { conclude, type Ending } from '../runs/conclude.ts'
import { tryLockGate } from '../runs/key-gate.ts'
import { takeFromLine } from '../runs/ready-aside.ts'
import { lockSchedules, scheduleIdsOf } from '../schedules/schedule-row.ts'
import { all, both, clockOr, dialects, inList, type Row, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import type { Candidate } from './head-of-line.ts'
import { endingOf } from './settle.ts'

/** The worker that found the runs, their queue, and the instant. */
interface UnfitLane {
  readonly context: StoreContext
  readonly workerId: number
  readonly queueId: number
  readonly now: number
}

/** The lease is found by its claim id, so that no later lease of the run is taken. */
const takeUnread = dialects('lease take unread', {
  sqlite: null,
  postgres: `delete from belfry.lease where run_id ${inList.numbers('$1').postgres} and claim_id = $2 and ns = $3
    returning ${columnsOf('lease')}, ${clockOr('$4')} as now`,
})

const findSources = both(
  'lease find sources',
  ({ numbers }) => `select id, source from belfry.run where id ${numbers('$1')}`,
)

/** A run that was leased before it was read, and the name of the unreadable field. */
export interface Unread {
  readonly row: Row
  readonly unreadable: string
}

/** Why the run can never be leased in its present state. A late run is not even parsed. */
export function whyUnfit({ row, contents }: Candidate, now: number): string | null {
  return tooLateReason(row, now) ?? ('unreadable' in contents ? `unreadable: ${contents.unreadable}` : null)
}

/** Lateness is checked before the first lease only: a run that returns to the line is late because of its own attempts. */
export function tooLateReason(row: Row, now: number): 'deadline' | 'lateness' | null {
  if (row.deadline !== null && (row.deadline as number) <= now) return 'deadline'
  if (row.late_after !== null && (row.late_after as number) < now && row.fence === 0) return 'lateness'
  return null
}

/**
 * Ends runs that are too late, and parks unreadable ones. A run whose schedule or gate is locked by another transaction stays in
 * line until the next lease.
 */
export function* endUnfit(lane: UnfitLane, unfit: readonly Candidate[]): Step<Pick<LeaseAnswer, 'skipped' | 'broken'>> {
  if (unfit.length === 0) return { skipped: [], broken: [] }
  const schedules = yield* lockSchedules(scheduleIdsOf(unfit.map(({ row }) => row)), { wait: false })
  const endable: Candidate[] = []
  for (const run of unfit) {
    const { key } = run.standing
    const isFree = run.row.schedule_id === null || schedules.has(run.row.schedule_id as number)
    if (isFree && (key === null || (yield* tryLockGate({ queueId: lane.queueId, key })))) endable.push(run)
  }
  yield* takeFromLine(endable.map(({ standing }) => standing))
  const endings = endable.map((run) => unfitEnding(lane, run))
  yield* conclude(lane.context, { now: lane.now, endings, schedules })
  const sources = yield* sourcesOf(endings)
  return {
    skipped: endings.flatMap((ending) => skippedOf(ending, sources)),
    broken: endings.flatMap((ending) => brokenOf(ending, sources)),
  }
}

/**
 * A late run was never leased. An unreadable run is parked. Only a leased run can be parked, so its lease ends in the step that
 * would have granted it, as an attempt that counts.
 */
function unfitEnding({ context: { ns }, workerId, now }: UnfitLane, run: Candidate): Ending {
  const { row, standing } = run
  const late = tooLateReason(row, now)
  const { runId, queueId, key, attempts, releases, deaths, fence } = standing
  const ofRun = {
    runId,
    ns,
    queueId,
    scheduleId: row.schedule_id as number | null,
    key,
    dedupeKey: row.dedupe_key as string | null,
  }
  if (late !== null) {
    const verdict = { status: 'skipped', attempts, releases, deaths, reason: late } as const
    return { ...ofRun, workerId: null, fence: 0, lastFence: fence, startedAt: null, outcome: 'skipped', verdict }
  }
  const reason = whyUnfit(run, now) as string
  const verdict = { status: 'parked', attempts: attempts + 1, releases: 0, deaths, reason } as const
  return { ...ofRun, workerId, fence: fence + 1, lastFence: fence + 1, startedAt: now, outcome: 'failed', verdict }
}

/** Parks leased runs that cannot be read, each under its lease, unless its cancellation was requested meanwhile. */
export function* setApart(
  context: StoreContext,
  claimId: string,
  unread: readonly Unread[],
): Step<LeaseAnswer['broken']> {
  const schedules = yield* lockSchedules(scheduleIdsOf(unread.map(({ row }) => row)), { wait: true })
  const unreadable = new Map(unread.map((run) => [run.row.run_id as number, run.unreadable]))
  const leases = yield* all(takeUnread, JSON.stringify([...unreadable.keys()]), claimId, context.ns, storeClock)
  const endings = leases.map((lease) => apartEnding(lease, `unreadable: ${unreadable.get(lease.run_id as number)}`))
  yield* conclude(context, { now: (leases[0]?.now ?? 0) as number, endings, schedules })
  const sources = yield* sourcesOf(endings)
  return endings.flatMap((ending) => brokenOf(ending, sources))
}

function apartEnding(lease: Row, unreadable: string): Ending {
  const [attempts, releases, deaths] = [lease.attempts, lease.releases, lease.deaths] as [number, number, number]
  if (lease.cancel_requested_at !== null) {
    const reason = (lease.cancel_reason as string | null) ?? 'cancelled'
    return endingOf(lease, 'cancelled', { status: 'cancelled', attempts, releases, deaths, reason })
  }
  const parked = { status: 'parked', attempts: attempts + 1, releases: 0, deaths, reason: unreadable } as const
  return endingOf(lease, 'failed', parked)
}

type Sources = ReadonlyMap<number, RunSource>

/** Read only for the few runs that end this way. */
function* sourcesOf(endings: readonly Ending[]): Step<Sources> {
  const ids = JSON.stringify(endings.map(({ runId }) => runId))
  const rows = yield* all<{ id: number; source: RunSource }>(findSources, ids)
  return new Map(rows.map(({ id, source }) => [id, source]))
}

function skippedOf({ runId, scheduleId, verdict }: Ending, sources: Sources): LeaseAnswer['skipped'] {
  if (verdict.status !== 'skipped') return []
  const source = sources.get(runId) ?? ''
  return [{ ...namesOf(runId, scheduleId), source, reason: verdict.reason as 'lateness' | 'deadline' }]
}

function brokenOf({ runId, fence, scheduleId, verdict }: Ending, sources: Sources): LeaseAnswer['broken'] {
  if (verdict.status !== 'parked') return []
  return [{ ...namesOf(runId, scheduleId), fence, source: sources.get(runId) ?? '', reason: verdict.reason }]
}

function namesOf(runId: number, scheduleId: number | null): { runId: string; scheduleId: string | null } {
  return {
    runId: formatId('run', runId),
    scheduleId: scheduleId === null ? null : formatId('schedule', scheduleId),
  }
}
