import { findRun } from '../../store/reads/find-run.ts'
import type { LedgerView } from '../../store/views.ts'
import type { OperationContext } from '../operation-context.ts'

/** How an occurrence ended, with the reason in words. */
export interface ExplainedLedgerRow extends Omit<LedgerView, 'decision'> {
  readonly why: string
  /** Whether its run can still be looked at; null where there was none. */
  readonly isRunKept: boolean | null
}

/** Tells rows of the ledger in words, and whether their runs are still there. */
export function explainLedger({ store }: OperationContext, rows: readonly LedgerView[]): Promise<ExplainedLedgerRow[]> {
  return Promise.all(
    rows.map(async ({ decision: _, ...row }) => {
      const isRunKept = row.runId === null ? null : (await store.look(findRun, row.runId)) !== null
      return { ...row, why: whyOf(row), isRunKept }
    }),
  )
}

const outcomes: Readonly<Record<string, string>> = {
  fired: 'it became a run, which has not ended',
  completed: 'its run ended well',
  failed: 'its run failed',
  parked: 'its run was parked, which for the schedule is an end',
  cancelled: 'its run was cancelled',
  skipped: 'its run ended without being executed',
  overlap: 'a run of the schedule had not ended',
  missed: 'nobody was there in time, and the rule for missed ones let it pass',
  lateness: 'it was later than maxLateness allows',
  paused: 'the schedule was paused',
  edited: 'the schedule was changed',
  asked: 'it was missed, and a person is asked about it',
  'max-runs': 'the schedule had had all its runs',
  'schedule-deleted': 'the schedule was deleted',
}

function whyOf({ outcome, causedBy }: Pick<LedgerView, 'outcome' | 'causedBy'>): string {
  const said = outcomes[outcome] ?? outcome
  return causedBy === null ? said : `${said}: ${causedBy}`
}
