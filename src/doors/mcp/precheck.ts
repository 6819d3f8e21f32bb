import { read } from '../../operations/input/read-input.ts'
import { refuse } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'

/**
 * Refuses a call that could not be done however often it is confirmed: what is wrong with its input, a name that nothing has, a
 * queue that is in use. A rehearsal tells all of it where the verb has one.
 */
export async function refuseInVain(operation: AnyOperation, input: object, context: OperationContext): Promise<void> {
  const { request } = operation
  const { problems, value } = read(operation.input, input, request)
  refuse(subjectOf(request), problems)
  if (operation.rehearses === true) await operation.call({ ...context, store: context.store.rehearsal() }, input)
  else await operation.precheck?.(context, value)
}
