import { findRun } from '../../store/reads/find-run.ts'
import type { LedgerView } from '../../store/views.ts'
import type { OperationContext } from '../operation-context.ts'

/** How an occurrence ended, with the reason in words. */
export interface ExplainedLedgerRow extends Omit<LedgerView, 'decision'> {
  readonly why: string
  /** Whether its run is still stored; null when there was none. */
  readonly isRunKept: boolean | null
}

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
  completed: 'its run completed',
  failed: 'its run failed',
  parked: 'its run was parked, which ends the occurrence',
  cancelled: 'its run was cancelled',
  skipped: 'its run ended without being executed',
  overlap: 'a run of the schedule had not ended',
  missed: 'no worker ran in time, and the missed rule skipped it',
  lateness: 'it was later than maxLateness allows',
  stopped: 'it was due while work was stopped, and the missed rule skipped it',
  paused: 'the schedule was paused',
  calendar: 'a calendar was closed',
  edited: 'the schedule was changed',
  finished: 'the schedule had finished',
  asked: 'it was missed, and the missed rule asks a person',
  'max-runs': 'the schedule had reached maxRuns',
  'schedule-deleted': 'the schedule was deleted',
}

function whyOf({ outcome, causedBy }: Pick<LedgerView, 'outcome' | 'causedBy'>): string {
  const said = outcomes[outcome] ?? outcome
  return causedBy === null ? said : `${said}: ${causedBy}`
}
