import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { cancelRun } from '../../store/runs/cancel-run.ts'
import { reprioritiseRun } from '../../store/runs/reprioritise-run.ts'
import { resetRun } from '../../store/runs/reset-run.ts'
import { retryRun } from '../../store/runs/retry-run.ts'
import { priority, reason, runId } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { absentRun, presentRun } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import { text } from '../schema/output-schema.ts'

/** What all that steer a run have in common. */
const steering = {
  noun: 'run',
  effect: 'write',
  scope: 'operate',
  takes: ['id'],
  errors: ['invalid', 'not-found', 'conflict'],
  doors: everyDoor,
} as const

const cancelWords = {
  cancelled: 'cancelled',
  'cancel-requested': 'asked its worker to end it',
  'already-requested': 'its worker was asked to end it before',
  'already-ended': 'it had ended before: nothing was changed',
} as const

export const cancel = operation({
  ...steering,
  verb: 'cancel',
  idempotent: true,
  defaultTool: 'Cancel a run: a waiting one ends at once, the worker of a started one is asked to stop.',
  precheck: (context, { id }) => presentRun(context, id as string),
  aliases: [['queue', 'cancel']],
  says: 'Ends a run that nobody has leased, and asks the worker of a leased one to end it.',
  request: 'a cancellation',
  effect: 'destructive',
  input: z.strictObject({ id: runId, reason: reason.optional() }),
  output: z.strictObject({
    answer: z
      .enum(['cancelled', 'cancel-requested', 'already-requested', 'already-ended'])
      .describe('Whether it has ended by it, will end, or had ended before.'),
  }),
  show: ({ answer }) => cancelWords[answer],
  examples: [{ id: 'r-11' }, { id: 'r-11', reason: 'The order was withdrawn.' }],
  async run(context, { id, reason: why = `asked for by ${context.actor.name}` }) {
    const answer = await context.store.do(cancelRun, id, why)
    if (answer === 'not-found') throw absentRun(id)
    void context.waits.look(id)
    return { answer }
  },
})

export const retry = operation({
  ...steering,
  verb: 'retry',
  defaultTool: 'Make a new run of one that has ended, or put a parked one back in line.',
  says: 'Makes a new run of one that has ended; a parked one is reset.',
  request: 'a retry',
  input: z.strictObject({
    id: runId,
    latest: z
      .boolean()
      .describe('Whether it does what its schedule says by now instead of what it said then. Default: false.')
      .optional(),
  }),
  output: z.strictObject({
    answer: z.enum(['created', 'reset']).describe('Whether there is a new run, or the parked one goes on.'),
    id: text('The id of the run that goes.'),
    alreadyDone: z
      .enum(['completed', 'late-cancel'])
      .describe(
        'Only where the retried run is not repeatable and its work was done: it completed, or it completed after its cancel was requested.',
      )
      .optional(),
  }),
  show({ answer, id, alreadyDone }, { command }) {
    if (answer === 'reset') return `reset ${id}: it goes on`
    const made = `made ${id}, a new run of the same work`
    if (alreadyDone === undefined) return made
    const when = alreadyDone === 'late-cancel' ? 'completed after its cancel was requested' : 'completed'
    const undo = command('run', 'cancel', id)
    return `${made}\n  this work is not repeatable and was already done: the run before it ${when}\n  do not repeat it: ${undo}`
  },
  examples: [{ id: 'r-11' }, { id: 'r-11', latest: true }],
  async run(context, { id, ...how }) {
    const answer = await context.store.do(retryRun, id, onlyGiven(how))
    switch (answer.answer) {
      case 'created':
      case 'reset':
        return answer
      case 'dedupe-key': {
        const { id: liveRunId } = answer
        const message = `Run ${liveRunId} is live and has the dedupe key of run ${id}.`
        throw conflict(id, message, 'Wait for it, or cancel it.', { liveRunId })
      }
      case 'still-live':
        throw conflict(id, `Run ${id} has not ended, so there is nothing to retry.`, 'Wait for it, or cancel it.')
      case 'schedule-gone':
        throw conflict(
          id,
          `The schedule of run ${id} was deleted and has no latest target.`,
          'Retry it without `latest`.',
        )
      case 'not-found':
        throw absentRun(id)
    }
  },
})

export const reprioritise = operation({
  ...steering,
  verb: 'reprioritise',
  idempotent: true,
  aliases: [['queue', 'reprioritise']],
  says: 'Gives a run that nobody has leased another place in its queue.',
  request: 'a change of priority',
  input: z.strictObject({ id: runId, priority }),
  output: z.strictObject({
    id: text('The id of the run.'),
    before: z.int().describe('The priority that it had.'),
    priority: z.int().describe('The priority that it has now.'),
  }),
  show: ({ id, before, priority: now }) =>
    before === now ? `${id} has priority ${now} already` : `${id} has priority ${now} now; it was ${before}`,
  examples: [{ id: 'r-11', priority: 5 }],
  async run({ store, actor }, { id, priority: wanted }) {
    const answer = await store.do(reprioritiseRun, id, wanted, { actor })
    switch (answer.answer) {
      case 'moved':
      case 'unchanged':
        return { id, before: answer.before, priority: wanted }
      case 'not-waiting': {
        const { status } = answer
        const hint =
          status === 'leased' ? 'It is at work; ask again if it comes back.' : 'A run that has ended has no place.'
        throw conflict(id, `Run ${id} is ${status}, and has no place in line.`, hint, { status })
      }
      case 'not-found':
        throw absentRun(id)
    }
  },
})

export const reset = operation({
  ...steering,
  verb: 'reset',
  idempotent: true,
  says: 'Gives a parked run its whole budget back, so that it goes on.',
  request: 'a reset',
  input: z.strictObject({ id: runId }),
  output: z.strictObject({ id: text('The id of the run.'), status: z.literal('ready').describe('Always ready.') }),
  show: ({ id }) => `reset ${id}: it is ready, with its whole budget`,
  examples: [{ id: 'r-11' }],
  async run(context, { id }) {
    const answer = await context.store.do(resetRun, id)
    if (answer === 'not-found') throw absentRun(id)
    if (answer === 'ready') return { id, status: 'ready' as const }
    const { status } = await presentRun(context, id)
    throw conflict(
      id,
      `Run ${id} is ${status}, not parked.`,
      'Only a parked run is reset: one that has ended is retried, and one that is live needs nothing.',
    )
  },
})

function conflict(id: string, message: string, hint: string, details: object = {}): BelfryError {
  return new BelfryError('conflict', message, { hint, details: { id, ...details } })
}
