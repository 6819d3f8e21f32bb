import { BelfryError } from '../core/error.ts'
import { isRecord } from '../core/json/record.ts'
import { auditRefusal } from '../store/audit/write-audit.ts'
import { auditSubject } from './audit-subject.ts'
import { quoted } from './input/refuse-input.ts'
import type { AnyOperation } from './operation.ts'
import type { OperationContext } from './operation-context.ts'

type CalledOperation = Pick<AnyOperation, 'noun' | 'verb' | 'about'>

/** Refuses a verb of persons to an agent, and records that it tried. */
export async function refuseAgent(
  context: Pick<OperationContext, 'store' | 'actor'>,
  operation: CalledOperation,
  input: unknown,
): Promise<never> {
  await recordRefusal(context, operation, input)
  const { name } = context.actor
  throw new BelfryError('not-allowed', `Only a person may do this, and ${quoted(name)} is an agent.`, {
    hint: 'Ask a person to do it.',
    details: { caller: 'agent' },
  })
}

export async function recordRefusal(
  { store, actor }: Pick<OperationContext, 'store' | 'actor'>,
  operation: CalledOperation,
  input: unknown,
): Promise<void> {
  const verb = `${operation.noun}.${operation.verb}`
  const subject = auditSubject(operation, isRecord(input) ? input : {})
  await store.do(auditRefusal, { actor, verb, subject, detail: { refused: 'not-allowed' } })
}
