import { z } from 'zod'
import { BelfryError } from '../core/error.ts'
import type { QueueChange } from '../store/port.ts'
import type { QueueView } from '../store/view.ts'
import { throwAbsentQueue } from './absent.ts'
import type { OperationContext } from './context.ts'
import { readWhole } from './input.ts'
import { onlyGiven } from './only-given.ts'
import { inPolicyWords, type PolicyInput, readPolicy } from './policy-input.ts'
import { inWordsOf, quoted, refuse } from './problem.ts'
import { reason } from './schedule-input.ts'

export interface QueueWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly queue: QueueView
}

async function set(context: OperationContext, name: string, policy: PolicyInput): Promise<QueueWritten> {
  const { patch, ifVersion, problems } = readPolicy(policy)
  const subject = `The policy of queue ${quoted(String(name))}`
  refuse(subject, problems)
  return inWordsOf(
    subject,
    (problem) => inPolicyWords(problem, policy),
    () => change(context, name, { policy: patch, ...onlyGiven({ ifVersion }) }),
  )
}

async function change(
  { store, actor }: OperationContext,
  name: string,
  what: Omit<QueueChange, 'actor'>,
): Promise<QueueWritten> {
  const answer = await store.setQueue(name, { ...what, actor })
  if (answer.answer !== 'version-differs') return answer
  const version = answer.queue?.policyVersion ?? 0
  throw new BelfryError('conflict', `Queue ${quoted(name)} has version ${version}, not ${what.ifVersion}.`, {
    hint: 'Look at what it says by now, and decide anew.',
    details: { queue: name, version },
  })
}

async function get(context: OperationContext, name: string): Promise<QueueView> {
  return (await context.store.read.queue(name)) ?? throwAbsentQueue(context, name)
}

function list({ store }: OperationContext): Promise<QueueView[]> {
  return store.read.queues()
}

const pauseInput = z.strictObject({ reason: reason.optional() })

async function pause(
  context: OperationContext,
  name: string,
  input: z.input<typeof pauseInput> = {},
): Promise<QueueWritten> {
  const value = readWhole(pauseInput, input, { subject: 'The pause', noun: 'a pause of a queue' })
  // A pause of a queue that nobody named would make it, and a misspelt name would seem to have stopped something.
  await get(context, name)
  return change(context, name, { paused: { reason: value.reason ?? `asked for by ${context.actor.name}` } })
}

async function resume(context: OperationContext, name: string): Promise<QueueWritten> {
  await get(context, name)
  return change(context, name, { paused: false })
}

/** The verbs of a queue. */
export const queueVerbs = {
  /** Creates a queue or changes what is named of its policy: what is not named stays. */
  set,
  /** A queue with its policy and what is in flight. */
  get,
  /** All queues, by name. */
  list,
  /** Hands out nothing of the queue any more, until it is resumed. What is at work finishes. */
  pause,
  /** Goes on handing out. */
  resume,
}
