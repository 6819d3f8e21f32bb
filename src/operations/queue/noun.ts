import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { firstPolicy } from '../../core/queue/first-policy.ts'
import { defaultQueue } from '../../core/queue/policy.ts'
import { askAgain } from '../../store/calendars/ask-again.ts'
import type { QueueChange } from '../../store/port.ts'
import { setQueue } from '../../store/queues/set-queue.ts'
import { findQueue, listQueues } from '../../store/reads/find-queue.ts'
import type { QueueView } from '../../store/views.ts'
import { limitDefault, pageByName, queueName, reason } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { quoted, refuse } from '../input/refuse-input.ts'
import { behindLast } from '../next-page.ts'
import { throwAbsentQueue } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { refuseLoosening } from '../refuse-loosening.ts'
import { outputOf } from '../schema/output-schema.ts'
import { remove } from './delete.ts'
import { diff, versions } from './policy-history.ts'
import { policyFaults, policyInput, readPolicy } from './policy-input.ts'
import { type Queue, queueSchema } from './queue-schema.ts'
import { queueShown, queuesShown, queueWrittenShown } from './show.ts'
import { stats } from './stats.ts'

export interface QueueWritten {
  readonly answer: 'created' | 'updated' | 'unchanged'
  readonly queue: Queue
}

const queueWritten = outputOf<QueueWritten>()(
  z.strictObject({
    answer: z.enum(['created', 'updated', 'unchanged']).describe('The result of the write.'),
    queue: queueSchema,
  }),
)

const set = operation({
  noun: 'queue',
  verb: 'set',
  fieldsAs: 'schedule.put',
  method: 'PUT',
  idempotent: true,
  begins: true,
  says: 'Create a queue or change its policy; a field that is not given stays.',
  request: 'a policy',
  effect: 'write',
  rehearses: true,
  scope: 'admin',
  input: policyInput,
  takes: ['name'],
  aliases: [['queue', 'policy', 'set']],
  output: queueWritten,
  errors: ['invalid', 'conflict'],
  doors: everyDoor,
  show: queueWrittenShown,
  examples: [
    { name: 'default', maxConcurrent: 50 },
    {
      name: 'mail',
      rateLimit: { startsMax: 10, per: '1m' },
      retention: { completed: '1d' },
      maxConcurrentPerKey: null,
    },
  ],
  async judge(context, reading) {
    const read = readPolicy(reading, context)
    const { patch, ifVersion } = read
    const { name } = reading.value
    const subject = name === undefined ? 'The policy' : `The policy of queue ${quoted(name)}`
    const before = await context.store.look(findQueue, name ?? defaultQueue)
    refuse(subject, policyFaults(read, before?.policy ?? firstPolicy(context, name ?? defaultQueue), reading.given))
    const after = { ...before?.policy, ...patch }
    refuseLoosening(context, subject, { before: before?.policy, after })
    if (before === null && ifVersion !== undefined && ifVersion > 0) throw otherVersion(name as string, 0, ifVersion)
    return change(context, name as string, { policy: patch, ...onlyGiven({ ifVersion }) })
  },
})

const get = operation({
  noun: 'queue',
  verb: 'get',
  method: 'GET',
  command: ['queue', 'show'],
  aliases: [['queue', 'policy', 'show']],
  says: 'Show a queue with its policy and its runs at work.',
  request: 'a request for a queue',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({ name: queueName }),
  takes: ['name'],
  output: queueSchema,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  show: queueShown,
  examples: [{ name: 'default' }],
  async run(context, { name }) {
    const { store } = context
    if (name !== defaultQueue || (await store.look(findQueue, name)) !== null) return present(context, name)
    // The first run without a queue creates `default`; until then its default policy applies.
    const policy = firstPolicy(context, name)
    return { name, policy, policyVersion: 0, paused: null, inFlight: 0, createdAt: null }
  },
})

const list = operation({
  noun: 'queue',
  verb: 'list',
  method: 'GET',
  defaultTool: 'List queues: ceiling, runs at work, whether paused.',
  says: 'List queues by name, a page at a time.',
  request: 'a list of queues',
  effect: 'read',
  scope: 'read',
  input: z.strictObject(pageByName),
  takes: [],
  output: z.array(queueSchema),
  errors: ['invalid'],
  doors: everyDoor,
  show: queuesShown,
  examples: [{}, { after: 'default', limit: 20 }],
  nextPage: behindLast<Queue>(({ name }) => ({ after: name })),
  run: ({ store }, page) => store.look(listQueues, { limit: limitDefault, ...onlyGiven(page) }),
})

const pause = operation({
  noun: 'queue',
  verb: 'pause',
  idempotent: true,
  says: 'Pause a queue: lease none of its runs until it is resumed; running runs finish.',
  request: 'a pause of a queue',
  effect: 'write',
  rehearses: true,
  scope: 'operate',
  input: z.strictObject({ name: queueName, reason: reason.optional() }),
  takes: ['name'],
  output: queueWritten,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
  show: queueWrittenShown,
  examples: [{ name: 'mail', reason: 'The mail server is down.' }],
  async run(context, { name, reason: why = `asked for by ${context.actor.name}` }) {
    // Pausing an unknown queue would create it, and a misspelt name would seem to have stopped something.
    await present(context, name)
    return change(context, name, { paused: { reason: why } })
  },
})

const resume = operation({
  noun: 'queue',
  verb: 'resume',
  idempotent: true,
  says: 'Resume a queue: lease its runs again.',
  request: 'a resumption of a queue',
  effect: 'write',
  rehearses: true,
  scope: 'operate',
  input: z.strictObject({ name: queueName }),
  takes: ['name'],
  output: queueWritten,
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
  show: queueWrittenShown,
  examples: [{ name: 'mail' }],
  async run(context, { name }) {
    await present(context, name)
    return change(context, name, { paused: false })
  },
})

/** The policy that a queue has, or would have if it were made now. */
async function present(context: OperationContext, name: string): Promise<QueueView> {
  return (await context.store.look(findQueue, name)) ?? throwAbsentQueue(context, name)
}

/** The schedules of the queue follow its calendars. If there are very many, a worker plans the rest later. */
const askedMax = 1_000

async function change(
  { store, actor }: OperationContext,
  name: string,
  what: Omit<QueueChange, 'actor'>,
): Promise<QueueWritten> {
  const answer = await store.do(setQueue, name, { ...what, actor })
  if (answer.answer !== 'version-differs') {
    if (what.policy !== undefined && 'calendar' in what.policy) await store.do(askAgain, { limit: askedMax })
    return answer
  }
  throw otherVersion(name, answer.queue?.policyVersion ?? 0, what.ifVersion)
}

function otherVersion(name: string, version: number, expected: number | undefined): BelfryError {
  return new BelfryError('conflict', `Queue ${quoted(name)} has version ${version}, not ${expected}.`, {
    hint: 'Read its current policy, and decide again.',
    details: { queue: name, version },
  })
}

export const queueOperations = {
  set,
  get,
  list,
  pause,
  resume,
  delete: remove,
  stats,
  versions,
  diff,
}
