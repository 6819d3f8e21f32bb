import assert from 'node:assert/strict'
import { BelfryError } from '../../core/error.ts'
import { type Problem, refusal } from './refuse-input.ts'

/** What a door could read of a request, and what it could not. */
export interface ReadRequest {
  readonly input: Record<string, unknown>
  /** What is wrong with the request itself: a flag whose JSON cannot be read, a header that says something else. */
  readonly problems: readonly Problem[]
}

const mark = 'unread:'

/**
 * The refusal of a request of which a door could not read everything: what the verb finds wrong with the rest is told with
 * it. A name that no verb has a field for goes along. Unknown fields are refused, so that the verb, here or at a server,
 * judges the whole input and does nothing.
 */
export async function refusalOf({ input, problems }: ReadRequest, telling: VerbCall): Promise<BelfryError> {
  const thrown = await telling.call({ ...input, [mark]: true }).then(
    () => assert.fail('A verb took an input with a field that it does not know.'),
    (error: unknown) => error,
  )
  if (thrown instanceof BelfryError && thrown.code === 'not-allowed') return thrown
  const found = thrown instanceof BelfryError && thrown.code === 'invalid' ? thrown.details?.problems : undefined
  // Something else came before: the verb has judged nothing, so that only the door can say what is wrong.
  if (!Array.isArray(found)) return refusal(telling.subject, problems)
  const rest = (found as Problem[]).filter(({ field }) => field !== mark && !telling.about.includes(field))
  const { subject } = (thrown as BelfryError).details ?? {}
  return refusal(typeof subject === 'string' ? subject : telling.subject, [...problems, ...rest])
}

interface VerbCall {
  /** Asks the verb. */
  readonly call: (input: Record<string, unknown>) => Promise<unknown>
  /** The fields that the problems of the door are about: what the verb says of them follows from that. */
  readonly about: readonly string[]
  readonly subject: string
}
