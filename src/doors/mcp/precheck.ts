import { read } from '../../operations/input/read-input.ts'
import { refuse } from '../../operations/input/refuse-input.ts'
import { type AnyOperation, subjectOf } from '../../operations/operation.ts'
import type { OperationContext } from '../../operations/operation-context.ts'

/** Refuses a call that would fail even when confirmed: bad input, an unknown name, a queue in use. Where the verb has a dry run, that finds all of it. */
export async function refuseInVain(operation: AnyOperation, input: object, context: OperationContext): Promise<void> {
  const { request } = operation
  const { problems, value } = read(operation.input, input, request)
  refuse(subjectOf(request), problems)
  if (operation.rehearses === true) await operation.call({ ...context, store: context.store.rehearsal() }, input)
  else await operation.precheck?.(context, value)
}
