import { writeAudit } from '../../store/audit/write-audit.ts'
import { useLane } from '../../store/calendars/use-calendars.ts'
import { checkActor, invalid } from '../../store/check.ts'
import type { Actor } from '../../store/port.ts'
import { both, clockNow, dialects, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { Notify, NotifyPatch } from './notice.ts'
import { ensureLanesOf, isSameNotify, notifyText, patchedNotify, readNotify } from './notify-setting.ts'
import { quietLane } from './quiet-hours.ts'

const lockNamespace = dialects('set notify lock', {
  sqlite: 'select notify from belfry.namespace where id = $1',
  postgres: 'select notify from belfry.namespace where id = $1 for no key update',
})
const updateNamespace = both('set notify update', 'update belfry.namespace set notify = $2 where id = $1')

export interface NotifyAnswer {
  readonly answer: 'updated' | 'unchanged'
  readonly notify: Notify
}

/** Sets the receivers of the namespace; a field that is not named stays, and `null` removes one. */
export function* setNotify(
  context: StoreContext,
  patch: NotifyPatch,
  { actor }: { readonly actor: Actor },
): Step<NotifyAnswer> {
  checkActor(actor)
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw invalid(
      'notify',
      `is ${patch === null ? 'null' : Array.isArray(patch) ? 'a list' : typeof patch}`,
      'an object',
    )
  }
  const before: Notify = readNotify((yield* one(lockNamespace, context.ns))?.notify) ?? {}
  const notify = patchedNotify(before, patch)
  if (isSameNotify(before, notify)) return { answer: 'unchanged', notify: before }
  yield* ensureLanesOf(context, notify)
  if (notify.quiet !== undefined) yield* useLane(context, quietLane(notify.quiet), 'quiet')
  yield* one(updateNamespace, context.ns, notifyText(notify))
  const subject = `namespace ${context.namespace}`
  yield* writeAudit(context, { actor, verb: 'store.notify', subject, detail: patch }, yield* clockNow())
  return { answer: 'updated', notify }
}
setNotify.rehearses = true as const
