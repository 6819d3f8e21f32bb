import { z } from 'zod'
import { callerKind } from '../../core/caller.ts'
import { BelfryError } from '../../core/error.ts'
import { cancelRun } from '../../store/runs/cancel-run.ts'
import { reprioritiseRun } from '../../store/runs/reprioritise-run.ts'
import { resetRun } from '../../store/runs/reset-run.ts'
import { retryRun } from '../../store/runs/retry-run.ts'
import { priority, reason, runId } from '../fields/basic-fields.ts'
import { onlyGiven } from '../fields/only-given.ts'
import { absentRun, presentRun } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import { refuseForced } from '../refuse-loosening.ts'
import { text } from '../schema/output-schema.ts'

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
  'cancel-requested': 'cancellation requested from its worker',
  'already-requested': 'cancellation was already requested from its worker',
  'already-ended': 'it had already ended: nothing was changed',
} as const

export const cancel = operation({
  ...steering,
  verb: 'cancel',
  idempotent: true,
  defaultTool: 'Cancel a run: a waiting one ends at once, the worker of a started one is asked to stop.',
  precheck: (context, { id }) => presentRun(context, id as string),
  aliases: [['queue', 'cancel']],
  says: 'Cancel a run: end it at once if no worker has leased it, else ask its worker to stop.',
  request: 'a cancellation',
  effect: 'destructive',
  input: z.strictObject({ id: runId, reason: reason.optional() }),
  output: z.strictObject({
    answer: z
      .enum(['cancelled', 'cancel-requested', 'already-requested', 'already-ended'])
      .describe('Whether it has ended, will end, or had already ended.'),
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
  errors: [...steering.errors, 'quota'],
  defaultTool: 'Make a new run of one that has ended, or put a parked one back in line.',
  says: 'Create a new run from one that has ended, or reset a parked one.',
  request: 'a retry',
  input: z.strictObject({
    id: runId,
    latest: z
      .boolean()
      .describe('Use the current fields of its schedule instead of those it was created with. Default: false.')
      .optional(),
  }),
  output: z.strictObject({
    answer: z.enum(['created', 'reset']).describe('Whether a new run was created, or the parked one was reset.'),
    id: text('The id of the new or reset run.'),
    alreadyDone: z
      .enum(['completed', 'late-cancel'])
      .describe(
        'Present when the retried run is not repeatable and its work was done: it completed, or it completed after its cancellation was requested.',
      )
      .optional(),
  }),
  show({ answer, id, alreadyDone }, { command }) {
    if (answer === 'reset') return `reset ${id}: it is ready again`
    const made = `created ${id}, a new run of the same work`
    if (alreadyDone === undefined) return made
    const when = alreadyDone === 'late-cancel' ? 'completed after its cancel was requested' : 'completed'
    const undo = command('run', 'cancel', id)
    return `${made}\n  this work is not repeatable and was already done: the run before it ${when}\n  do not repeat it: ${undo}`
  },
  examples: [{ id: 'r-11' }, { id: 'r-11', latest: true }],
  async run(context, { id, ...how }) {
    if (callerKind(context.actor) === 'agent') await refuseForced(context, id)
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
  says: 'Change the priority of a run that no worker has leased.',
  request: 'a change of priority',
  input: z.strictObject({ id: runId, priority }),
  output: z.strictObject({
    id: text('The id of the run.'),
    before: z.int().describe('The previous priority.'),
    priority: z.int().describe('The new priority.'),
  }),
  show: ({ id, before, priority: now }) =>
    before === now ? `${id} already has priority ${now}` : `${id} now has priority ${now}; before: ${before}`,
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
          status === 'leased'
            ? 'It is at work; try again if it returns to its queue.'
            : 'Only a waiting run has a priority.'
        throw conflict(id, `Run ${id} is ${status}, so its priority cannot change.`, hint, { status })
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
  says: 'Reset a parked run: give it all its attempts back and make it ready.',
  request: 'a reset',
  input: z.strictObject({ id: runId }),
  output: z.strictObject({ id: text('The id of the run.'), status: z.literal('ready').describe('Always ready.') }),
  show: ({ id }) => `reset ${id}: it is ready, with all its attempts`,
  examples: [{ id: 'r-11' }],
  async run(context, { id }) {
    const answer = await context.store.do(resetRun, id)
    if (answer === 'not-found') throw absentRun(id)
    if (answer === 'ready') return { id, status: 'ready' as const }
    const { status } = await presentRun(context, id)
    throw conflict(
      id,
      `Run ${id} is ${status}, not parked.`,
      'Only a parked run can be reset. Retry a run that has ended; a live run needs no reset.',
    )
  },
})

function conflict(id: string, message: string, hint: string, details: object = {}): BelfryError {
  return new BelfryError('conflict', message, { hint, details: { id, ...details } })
}
