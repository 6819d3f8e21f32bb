import type { RunBounds } from '../../../core/caller.ts'
import { checkText } from '../../../store/check.ts'
import { reasonLengthMax } from '../../../store/runs/cancel-run.ts'
import { finishSchedule } from '../../../store/schedules/finish-schedule.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { lockedParent } from './child-rows.ts'
import { planTurn } from './loop-turns.ts'

export interface WantedTurn {
  readonly at: number
  readonly reason: string
  readonly stop: boolean
  readonly note?: string
}

/**
 * Plans the next turn of the loop that an agent runs in, or ends the loop; `no-loop` if the agent runs in none. No task is created, so no
 * quota counts the turn.
 */
export function* nextTurn(
  context: StoreContext,
  bounds: RunBounds,
  { at, reason, stop, note }: WantedTurn,
): Step<'planned' | 'no-loop'> {
  const row = yield* lockedParent(context, bounds)
  if (row?.spec.task?.pace !== 'self') return 'no-loop'
  if (stop) yield* finishSchedule(row.id, { by: 'pace', now: yield* clockNow() })
  else {
    checkText(reason, 'reason', reasonLengthMax)
    yield* planTurn(context, row, { at, reason, author: `agent ${bounds.run}`, ...(note !== undefined && { note }) })
  }
  return 'planned'
}
nextTurn.rehearses = true as const
nextTurn.audits = (answer: string) => (answer === 'planned' ? { detail: {} } : null)
