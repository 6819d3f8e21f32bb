import { z } from 'zod'
import { findRun } from '../../store/reads/find-run.ts'
import type { LedgerView } from '../../store/views.ts'
import type { OperationContext } from '../operation-context.ts'
import { type AnswerOf, flag, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { ledgerShape } from './schedule-schema.ts'

export const explainedLedgerRow = noted(
  z
    .strictObject({
      ...ledgerShape,
      why: text('The same in words.'),
      isRunKept: flag('Whether that run is still stored.').nullable(),
    })
    .describe('How an occurrence ended, in words.'),
  { id: 'LedgerRowTold' },
)
export type ExplainedLedgerRow = AnswerOf<typeof explainedLedgerRow>

export function explainLedger(
  { store, holdReasons }: OperationContext,
  rows: readonly LedgerView[],
): Promise<ExplainedLedgerRow[]> {
  const words = (code: string) => outcomes[code] ?? holdReasons[code]?.skipped ?? code
  return Promise.all(
    rows.map(async ({ decision: _, ...row }) => {
      const run = row.runId === null ? null : await store.look(findRun, row.runId)
      // The ledger records that its run was skipped, and the run for what.
      const cause = row.outcome === 'skipped' ? (run?.end?.reason ?? undefined) : undefined
      const said = cause === undefined ? words(row.outcome) : `its run was skipped (${cause}): ${words(cause)}`
      const why = row.causedBy === null ? said : `${said}: ${row.causedBy}`
      return { ...row, why, isRunKept: row.runId === null ? null : run !== null }
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
  deadline: 'its deadline had passed',
  when: 'its guard did not let it start',
}
