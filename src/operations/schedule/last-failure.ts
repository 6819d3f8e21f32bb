import type { Store } from '../../store/port.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { listLedger } from '../../store/reads/find-schedule.ts'
import { listAttempts } from '../../store/reads/list-attempts.ts'
import { clause } from '../explain/words.ts'
import { shortText } from './plain-text.ts'

/** The last failed occurrence of the current row of failures. */
export interface LastFailure {
  readonly runId: string
  /** Why, as a clause; null when no reason is stored. */
  readonly reason: string | null
}

/** Skipped and cancelled occurrences do not end a row of failures, and may lie in between. */
const rowsLookedAt = 20
const reasonLengthMax = 200

/** Null when its run is not kept any more, or is further back than the search goes. */
export async function lastFailureOf(store: Store, nameOrId: string): Promise<LastFailure | null> {
  const rows = await store.look(listLedger, nameOrId, { limit: rowsLookedAt })
  const row = rows.find(({ outcome }) => outcome === 'failed' || outcome === 'parked')
  const run = row?.runId == null ? null : await store.look(findRun, row.runId)
  if (run === null) return null
  const reason = await reasonOf(store, run.id, run.end?.reason ?? run.parked?.reason ?? null)
  return { runId: run.id, reason: reason === null ? null : clause(shortText(reason, reasonLengthMax)) }
}

/** A parked run that was reset is live again; its attempts still hold the reason it was parked for. */
async function reasonOf(store: Store, runId: string, reason: string | null): Promise<string | null> {
  if (reason !== null) return reason
  const attempts = await store.look(listAttempts, runId)
  return attempts.findLast((attempt) => attempt.reason !== null)?.reason ?? null
}

/** `failed once`, `failed 3 times in a row`. */
export function timesFailed(failures: number): string {
  return failures === 1 ? 'failed once' : `failed ${failures} times in a row`
}
