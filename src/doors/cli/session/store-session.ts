import type { OperationContext } from '../../../operations/operation-context.ts'
import { clockNow } from '../../../store/statement.ts'
import type { StoreSession } from '../world.ts'

export function storeSession(context: OperationContext, close: () => Promise<void>): StoreSession {
  const { store, zone } = context
  return {
    context,
    kind: 'store',
    place: store.place,
    zone,
    call: (operation, input, { isRehearsal = false } = {}) => {
      const on = isRehearsal ? { ...context, store: store.rehearsal() } : context
      return operation.call(on, input) as never
    },
    now: () => store.look(clockNow),
    close,
  }
}
