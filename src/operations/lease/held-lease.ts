import { BelfryError } from '../../core/error.ts'
import type { Settled } from '../../store/port.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { heldRuns } from '../../store/reads/held-runs.ts'
import { listAttempts } from '../../store/reads/list-attempts.ts'
import type { AttemptView, HeldRun, RunView } from '../../store/views.ts'
import { isoText } from '../input/instant.ts'
import type { OperationContext } from '../operation-context.ts'
import { type LeaseParts, leasePartsOf } from './lease-id.ts'

export type Holding =
  | { readonly parts: LeaseParts; readonly held: HeldRun }
  | { readonly parts: LeaseParts; readonly error: BelfryError }

/**
 * Checks whether the caller holds the leases it names. The claim of a run's n-th lease never changes, so the claim can be checked before
 * the step; the step itself checks the fence.
 */
export async function holdingsOf(
  context: OperationContext,
  ids: readonly string[],
  doing: 'end' | 'renew' = 'end',
): Promise<Holding[]> {
  const named = ids.map((id) => leasePartsOf(id) as LeaseParts)
  const held = await context.store.look(
    heldRuns,
    named.map(({ runId }) => runId),
  )
  const byRun = new Map(held.map((run) => [run.runId, run]))
  return Promise.all(
    named.map(async (parts): Promise<Holding> => {
      const run = byRun.get(parts.runId)
      if (run?.fence !== parts.fence) return { parts, error: await overError(context, parts) }
      if (run.claimId !== parts.claimId) return { parts, error: strange(parts) }
      if (await isForWorkers(context, parts)) return { parts, error: notForModels(context, parts, doing) }
      return { parts, held: run }
    }),
  )
}

/** Whether a lease is out of reach for a model. Below admin a model works as an outside host, on runs without a target. A worker's lease id that it has read somewhere must not let it end the run: a run with a target is done when its target was executed. */
async function isForWorkers({ actor, scope, store }: OperationContext, { runId }: LeaseParts): Promise<boolean> {
  if (actor.door !== 'mcp' || scope === undefined || scope === 'admin') return false
  const target = (await store.look(findRun, runId))?.target ?? null
  return target !== null
}

function notForModels({ scope }: OperationContext, { runId, fence }: LeaseParts, doing: 'end' | 'renew'): BelfryError {
  return new BelfryError(
    'not-allowed',
    `Run ${runId} has a target; at this door only an admin may ${doing} its lease.`,
    {
      hint: 'Leave it to the worker or host that leased it, or ask a person to cancel it.',
      details: { runId, fence, has: scope, needs: 'admin' },
    },
  )
}

/** The lease that the caller holds; otherwise refuses with what happened since. */
export async function heldLease(context: OperationContext, id: string): Promise<HeldRun> {
  const [holding] = (await holdingsOf(context, [id])) as [Holding]
  if ('error' in holding) throw holding.error
  return holding.held
}

/** The refusal of an end with an old fence. */
export async function refusedEnd(context: OperationContext, parts: LeaseParts, settled: Settled): Promise<BelfryError> {
  if (settled.answer !== 'refused') return overError(context, parts)
  const { error } = settled
  return error instanceof BelfryError ? error : new BelfryError('failure', error.message, { cause: error })
}

/** A lease that is over, with the end of its attempt and the state of its run. */
export async function overError({ store }: OperationContext, parts: LeaseParts): Promise<BelfryError> {
  const { runId, fence } = parts
  const run = await store.look(findRun, runId)
  if (run === null) {
    return new BelfryError('not-found', `There is no run ${runId}, or it was removed.`, {
      hint: 'Its lease is over, and retention may have removed the run.',
      details: { runId, fence },
    })
  }
  const attempt = (await store.look(listAttempts, runId)).find((each) => each.fence === fence)
  if (attempt === undefined) return strange(parts)
  const { outcome, endedAt, reason } = attempt
  return new BelfryError('conflict', `Lease ${fence} of run ${runId} is over: ${endSaid(attempt)}; ${nowSaid(run)}.`, {
    hint: 'Nothing was changed. Lease again if there is still work.',
    details: {
      runId,
      fence,
      ended: { outcome, at: isoText(endedAt), reason },
      run: { status: run.status, fence: run.fence, attempts: run.attempts },
    },
  })
}

function endSaid({ outcome, endedAt, reason, ends }: AttemptView): string {
  const why = reason === null ? '' : ` (${reason})`
  return `${endWords[outcome] ?? `it ended ${outcome}`}${why} at ${isoText(endedAt)}${ends === null ? '' : `, which ended the run as ${ends}`}`
}

const endWords: Readonly<Record<string, string>> = {
  success: 'it was completed',
  failed: 'it was released as failed',
  released: 'it was released',
  lost: 'it expired and was reclaimed',
  parked: 'it was parked',
}

function nowSaid({ status, fence }: RunView): string {
  return status === 'leased' ? `the run is leased again, as attempt ${fence}` : `the run is ${status}`
}

/** Does not reveal whether the run, the number or the claim is wrong. */
function strange({ runId, fence }: LeaseParts): BelfryError {
  return new BelfryError('not-found', `There is no such lease of run ${runId}.`, {
    hint: 'Pass the whole id as the lease returned it.',
    details: { runId, fence },
  })
}
