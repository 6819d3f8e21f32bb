import { planned } from '../../core/schedule/next-plan.ts'
import { passedBy } from '../../core/schedule/passed-by.ts'
import { isPaused } from '../../core/schedule/state.ts'
import type { Step } from '../statement.ts'
import { writePassed } from './ledger.ts'
import { lockSchedules, saveSchedules } from './schedule-row.ts'

/**
 * Ends a schedule early, because of one of its fields: nothing more is planned, and occurrences that are due but not fired end
 * in the ledger. Existing runs continue. The schedule starts again when that field or its timing is written, or when it is
 * reset.
 */
export function* finishSchedule(id: number, { by, now }: { readonly by: string; readonly now: number }): Step<void> {
  const found = (yield* lockSchedules([id], { wait: true })).get(id)
  if (found === undefined || found.deletedAt !== null || found.finished !== null) return
  const outcome = isPaused(found, now) ? 'paused' : 'finished'
  const { row, entries } = passedBy(found, { by: now, now, outcome })
  yield* writePassed(now, row, entries)
  yield* saveSchedules([planned({ ...row, finished: by }, { now, lastRunId: null })])
}
