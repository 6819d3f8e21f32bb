import type { RunBounds } from '../../../core/caller.ts'
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

/** Plans the next turn of the loop that an agent runs in, or ends it; `no-loop` where it runs in none. No task is made, so that no quota counts it. */
export function* nextTurn(
  context: StoreContext,
  bounds: RunBounds,
  { at, reason, stop, note }: WantedTurn,
): Step<'planned' | 'no-loop'> {
  const row = yield* lockedParent(context, bounds)
  if (row?.spec.task?.pace !== 'self') return 'no-loop'
  if (stop) yield* finishSchedule(row.id, { by: 'pace', now: yield* clockNow() })
  else yield* planTurn(context, row, { at, reason, author: `agent ${bounds.run}`, ...(note !== undefined && { note }) })
  return 'planned'
}
nextTurn.rehearses = true as const
nextTurn.audits = (answer: string) => (answer === 'planned' ? { detail: {} } : null)
