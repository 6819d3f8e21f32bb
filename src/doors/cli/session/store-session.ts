import type { OperationContext } from '../../../operations/operation-context.ts'
import { standingOf } from '../../../operations/worker/noun.ts'
import { clockNow } from '../../../store/statement.ts'
import type { StoreSession } from '../world.ts'

/** The verbs on a store that is open in this process. */
export function storeSession(
  context: OperationContext,
  rest: Pick<StoreSession, 'close' | 'needsTrust' | 'openPrivate'>,
): StoreSession {
  const { store, zone } = context
  return {
    context,
    kind: 'store',
    get place() {
      return store.place
    },
    zone,
    call: (operation, input, { isRehearsal = false } = {}) => {
      const on = isRehearsal ? { ...context, store: store.rehearsal() } : context
      return operation.call(on, input) as never
    },
    now: () => store.look(clockNow),
    standing: () => standingOf(store),
    ...rest,
  }
}
