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
  refused = 'not-allowed',
): Promise<void> {
  const verb = `${operation.noun}.${operation.verb}`
  const subject = auditSubject(operation, isRecord(input) ? input : {})
  await store.do(auditRefusal, { actor, verb, subject, detail: { refused } })
}

type BoundEntry = CalledOperation & Pick<AnyOperation, 'inRun'>

/**
 * Carries out a call of an agent that is bound to its run. Such an agent may call few verbs, and every refusal is recorded, so that people
 * notice an agent that is refused often.
 */
export async function boundCall<Answer>(
  context: OperationContext,
  { entry, input }: { readonly entry: BoundEntry; readonly input: unknown },
  call: () => Promise<Answer>,
): Promise<Answer> {
  try {
    if (entry.inRun !== true) throw closedToRuns(context, entry)
    return await call()
  } catch (error) {
    if (error instanceof BelfryError) await recordRefusal(context, entry, input, error.code)
    throw error
  }
}

function closedToRuns({ actor }: OperationContext, { noun, verb }: CalledOperation): BelfryError {
  const message = `The token of run ${actor.within?.run} is not for ${noun} ${verb}.`
  return new BelfryError('not-allowed', message, {
    hint: 'An agent plans tasks of its own with it, and reads its messages: see docs/agents.md. Ask a person for the rest.',
    details: { caller: 'agent', run: actor.within?.run },
  })
}
