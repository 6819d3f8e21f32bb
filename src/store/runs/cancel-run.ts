import { checkText } from '../check.ts'
import { runIdOf } from '../leases/settle.ts'
import type { CancelAnswer } from '../port.ts'
import { lockSchedules } from '../schedules/schedule-row.ts'
import { both, clockNow, one, type Step, StepAgain } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { About } from '../verb.ts'
import { conclude, type Ending } from './conclude.ts'
import { type Gate, lockGates } from './key-gate.ts'
import { takeFromAside, takeFromLine } from './ready-aside.ts'
import { freshReadyRow, type RunOutline, runOutlines } from './run-outline.ts'

export const requestCancel = both(
  'cancel request',
  `update belfry.lease set cancel_requested_at = $2, cancel_reason = $3
    where run_id = $1 and cancel_requested_at is null returning run_id`,
)
/**
 * A lease that was granted meanwhile has no cancel request yet: the run has moved, and the search starts again. The lease is
 * found by its run, not among all cancel requests.
 */
const findRequest = both(
  'cancel find request',
  'select run_id from belfry.lease where run_id = $1 and coalesce(cancel_requested_at, -1) >= 0',
)
/** The end is found by its run; see `findEnds` in `reads/find-run.ts`. */
const findEnd = both(
  'cancel find end',
  `select ends from belfry.attempt where run_id = $1 and coalesce(ends, '') <> ''`,
)

export const reasonLengthMax = 2_000

/**
 * Ends a run that is not leased, and asks the worker of a leased one to end it; the first request stands. If other transactions
 * moved the run meanwhile, the search starts again.
 */
export function* cancelRun(context: StoreContext, runId: string, reason: string): Step<CancelAnswer> {
  const id = runIdOf({ runId })
  checkText(reason, 'reason', reasonLengthMax)
  const place = (yield* runOutlines(context, [id])).get(id)
  if (place === undefined) return 'not-found'
  const schedules = yield* lockSchedules(place.scheduleId === null ? [] : [place.scheduleId], { wait: true })
  const now = yield* clockNow()
  if ((yield* one(requestCancel, id, now, reason)) !== undefined) return 'cancel-requested'
  if ((yield* one(findRequest, id)) !== undefined) return 'already-requested'
  if ((yield* one(findEnd, id)) !== undefined) return 'already-ended'
  // Lock order: first the lease, then the gate, then the run. Every step that moves runs of a key locks the gate before the run,
  // and a settle holds the lease when it locks the gate.
  yield* lockGates(gatesOf(place))
  const withdrawn = yield* withdraw(place)
  if (withdrawn === null) throw new StepAgain(`Run ${runId} changed state during the cancel.`)
  yield* conclude(context, { now, endings: [cancelledEnding({ place, reason, ...withdrawn })], schedules })
  return 'cancelled'
}
cancelRun.audits = (answer: CancelAnswer, [id]: About) =>
  answer === 'cancelled' || answer === 'cancel-requested' ? { detail: { answer }, subject: `run ${id}` } : null

/** The gate to lock before a run of a key is moved. */
export function gatesOf({ ns, queueId, key, keyLimit }: RunOutline): Gate[] {
  return key === null || keyLimit === null ? [] : [{ ns, queueId, key, limit: keyLimit }]
}

function* withdraw(place: RunOutline): Step<{ wasParked: boolean } | null> {
  const inLine = yield* takeFromLine([freshReadyRow(place, 0)])
  if (inLine.length > 0) return { wasParked: false }
  const [aside] = yield* takeFromAside([place.runId])
  return aside === undefined ? null : { wasParked: aside.kind === 'parked' }
}

export interface Cancelled {
  readonly place: RunOutline
  readonly reason: string
  readonly wasParked: boolean
}

/**
 * The end of a run that is not leased. For its schedule a parked run has already ended, so the schedule sees no
 * second end.
 */
export function cancelledEnding({ place, reason, wasParked }: Cancelled): Ending {
  const { runId, ns, queueId, scheduleId, key, dedupeKey } = place
  return {
    runId,
    ns,
    queueId,
    scheduleId,
    key,
    dedupeKey,
    workerId: null,
    fence: 0,
    lastFence: 0,
    startedAt: null,
    outcome: 'cancelled',
    verdict: { status: 'cancelled', attempts: 0, releases: 0, deaths: 0, reason },
    wasParked,
  }
}
