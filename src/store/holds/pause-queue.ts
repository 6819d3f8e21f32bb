import { kernelHoldReasons } from '../../core/hold-reason.ts'
import type { QueueChange } from '../port.ts'
import { both, clockNow, one, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { endless } from './hold-row.ts'
import { deleteHold } from './lift-hold.ts'
import { writeHold } from './put-hold.ts'

const { paused } = kernelHoldReasons

const findPause = both(
  'pause find',
  `select id, note from belfry.hold where ns = $1 and scope = 'queue' and subject = $2 and reason = '${paused.code}' limit 1`,
)
const updateNote = both('pause update note', 'update belfry.hold set note = $2 where id = $1')

/**
 * Pauses or resumes a locked queue by a hold on it. Returns whether anything changed. A repeated pause keeps its beginning. The
 * queue's own audit line records it.
 */
export function* pauseQueue(context: StoreContext, queue: string, change: QueueChange): Step<boolean> {
  if (change.paused === undefined) return false
  const found = yield* one<{ id: number; note: string }>(findPause, context.ns, queue)
  if (change.paused === false) {
    if (found !== undefined) yield* run(deleteHold, found.id)
    return found !== undefined
  }
  const { reason: note } = change.paused
  if (found === undefined) {
    const now = yield* clockNow()
    const hold = {
      scope: 'queue',
      subject: queue,
      from: now,
      until: endless,
      reason: paused,
      note,
      actor: change.actor,
    } as const
    yield* writeHold(context, hold, now)
  } else if (found.note !== note) yield* run(updateNote, found.id, note)
  return found?.note !== note
}
