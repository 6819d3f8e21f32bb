import type { Store } from '../../store/port.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { listLedger } from '../../store/reads/find-schedule.ts'
import { listAttempts } from '../../store/reads/list-attempts.ts'
import { clause } from '../explain/words.ts'
import { shortText } from './plain-text.ts'

/** The last occurrence of a schedule that failed, of those that failed in a row. */
export interface LastFailure {
  readonly runId: string
  /** Why, as a clause; null where nobody gave a reason. */
  readonly reason: string | null
}

/** Occurrences that were skipped or cancelled end no row of failures, and lie in between. */
const rowsLookedAt = 20
const reasonLengthMax = 200

/** Null where its run is not kept any more, or lies further back than is looked. */
export async function lastFailureOf(store: Store, nameOrId: string): Promise<LastFailure | null> {
  const rows = await store.look(listLedger, nameOrId, { limit: rowsLookedAt })
  const row = rows.find(({ outcome }) => outcome === 'failed' || outcome === 'parked')
  const run = row?.runId == null ? null : await store.look(findRun, row.runId)
  if (run === null) return null
  const reason = await reasonOf(store, run.id, run.end?.reason ?? run.parked?.reason ?? null)
  return { runId: run.id, reason: reason === null ? null : clause(shortText(reason, reasonLengthMax)) }
}

/** A parked run that was reset is on its way again; its attempts still say why it was parked. */
async function reasonOf(store: Store, runId: string, reason: string | null): Promise<string | null> {
  if (reason !== null) return reason
  const attempts = await store.look(listAttempts, runId)
  return attempts.findLast((attempt) => attempt.reason !== null)?.reason ?? null
}

/** `failed once`, `failed 3 times in a row`. */
export function timesFailed(failures: number): string {
  return failures === 1 ? 'failed once' : `failed ${failures} times in a row`
}
