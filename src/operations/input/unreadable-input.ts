import assert from 'node:assert/strict'
import { BelfryError } from '../../core/error.ts'
import { type Problem, refusal } from './refuse-input.ts'

/** The readable part of a request, and its problems. */
export interface ReadRequest {
  readonly input: Record<string, unknown>
  /** Problems of the request itself: a flag with malformed JSON, or a contradicting header. */
  readonly problems: readonly Problem[]
}

const mark = 'unread:'

/**
 * Refuses a request that a door could not read completely, together with the problems that the verb finds in the rest. The
 * door adds a field that no verb knows. So the verb, here or at a server, checks the whole input, refuses it and does
 * nothing.
 */
export async function refusalOf({ input, problems }: ReadRequest, telling: VerbCall): Promise<BelfryError> {
  const thrown = await telling.call({ ...input, [mark]: true }).then(
    () => assert.fail('A verb took an input with a field that it does not know.'),
    (error: unknown) => error,
  )
  if (thrown instanceof BelfryError && thrown.code === 'not-allowed') return thrown
  const found = thrown instanceof BelfryError && thrown.code === 'invalid' ? thrown.details?.problems : undefined
  // Another error came first and the verb has checked nothing, so only the door's problems are
  // known.
  if (!Array.isArray(found)) return refusal(telling.subject, problems)
  const rest = (found as Problem[]).filter(({ field }) => field !== mark && !telling.about.includes(field))
  const { subject } = (thrown as BelfryError).details ?? {}
  return refusal(typeof subject === 'string' ? subject : telling.subject, [...problems, ...rest])
}

interface VerbCall {
  /** Calls the verb. */
  readonly call: (input: Record<string, unknown>) => Promise<unknown>
  /** The fields of the door's problems: the verb's problems with these fields only follow from the door's problems. */
  readonly about: readonly string[]
  readonly subject: string
}
