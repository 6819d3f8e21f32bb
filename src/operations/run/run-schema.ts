import { z } from 'zod'
import type { AttemptView, OutputView } from '../../store/views.ts'
import { decision, runSource } from '../explain/decision-schema.ts'
import { openOutput } from '../fields/added-fields.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { executionSchema } from '../target/execution-options.ts'
import { targetStored } from '../target/target-form.ts'
import type { Run, RunLease, RunLine, RunList } from './run-answer.ts'
import { runBrief, runLineBrief } from './run-brief.ts'
import { endedStatuses, runStatuses } from './run-statuses.ts'

const lease = noted(
  outputOf<RunLease>()(
    z
      .strictObject({
        workerId: text('The worker that has it.'),
        leasedAt: instantOutput('Since when.'),
        expiresAt: instantOutput('Until when, unless it is renewed.'),
        cancelRequestedAt: instantOutput('When its end was asked for.').nullable(),
        cancelReason: text('Why its end was asked for.').nullable(),
      })
      .describe('Who has it now.'),
  ),
  { id: 'Lease' },
)

const waiting = z.strictObject({
  for: z
    .enum(['instant', 'key', 'overlap'])
    .describe('An instant, room under its key, or the end of another run of its schedule.'),
  until: instantOutput('Until when, where that is known.').exactOptional(),
  reason: text('Why, in words.').nullable(),
})

const line = {
  id: text('The id of the run.'),
  queue: text('The queue that it goes through.'),
  status: z.enum(runStatuses).describe('Where it stands.'),
  waiting: waiting.describe('Why a ready run is not in line.').exactOptional(),
  fence: count('The number of its last lease, which is the number of the attempt.'),
  attempts: count('The ends that used its budget.'),
  releases: count('Clean releases in a row; null once it has ended.').nullable(),
  deaths: count('Leases lost because a worker died; null once it has ended.').nullable(),
  priority: count('Lower goes first.'),
  enqueuedAt: instantOutput('When it was made.'),
  schedule: text('The name of its schedule.').nullable(),
  scheduleId: text('The id of its schedule.').nullable(),
  occurrenceAt: instantOutput('The nominal instant that it stands for.').nullable(),
  dueAt: instantOutput('When that was due: nominal and spread.').nullable(),
  source: runSource,
  notBefore: instantOutput('It does not start before.').nullable(),
  deadline: instantOutput('It does not start any more from then on.').nullable(),
  lateAfter: instantOutput('Its first attempt does not start any more from then on.').nullable(),
  concurrencyKey: text('Its key under the ceiling for a key.').nullable(),
  idempotencyKey: text('Its idempotency key.').nullable(),
  dedupeKey: text('Its dedupe key.').nullable(),
  waitsFor: text('The run that must end before it.').nullable(),
  retryOf: text('The run that it is a retry of.').nullable(),
  repeatable: flag('Whether it is tried again when nobody knows whether it was done.'),
  policyVersion: count('The version of the policy of its queue when it was made.'),
  target: targetStored.nullable(),
  ...executionSchema,
  lease: lease.nullable(),
  parked: z
    .strictObject({ at: instantOutput('Since when.'), reason: text('Why.') })
    .nullable()
    .describe('That it waits for a person.'),
  end: z
    .strictObject({
      status: z.enum(endedStatuses).describe('How it ended.'),
      at: instantOutput('When it ended.'),
      reason: text('Why, if there is more to say.').nullable(),
    })
    .nullable()
    .describe('How it ended, if it has.'),
}

const runLine = noted(outputOf<RunLine>()(openOutput('run', line).describe('A run in a list.')), {
  id: 'RunLine',
  brief: runLineBrief,
})

export const outputSchema = noted(
  outputOf<OutputView>()(
    z
      .strictObject({
        fence: count('The number of the attempt.'),
        text: text('What was put out; where something was dropped, a line of its own says so.'),
        droppedBytes: count('Bytes that were dropped between the first and the last half.'),
      })
      .describe('What an attempt has put out.'),
  ),
  { id: 'Output' },
)

export const runSchema = noted(
  outputOf<Run>()(
    openOutput('run', {
      ...line,
      payload: z.unknown().describe('What it was handed: plain data as it was given.').exactOptional(),
      decision: decision.nullable(),
      result: z
        .strictObject({
          value: z.unknown().describe('Plain data; what was too long to be kept whole is a text that was cut.'),
          truncated: flag('Whether it was too long to be kept whole.'),
        })
        .nullable()
        .describe('What it answered.'),
      output: outputSchema.nullable().exactOptional(),
    }).describe('A run with all that was kept of it.'),
  ),
  { id: 'Run', brief: runBrief },
)

export const runList = outputOf<RunList>()(
  z.strictObject({
    runs: z.array(runLine).describe('May be fewer than asked for, even none, while there is a next.'),
    next: text('Where the list goes on: the before of the next page.').nullable(),
  }),
)

export const attemptSchema = noted(
  outputOf<AttemptView>()(
    z
      .strictObject({
        fence: count('The number of the attempt.'),
        workerId: text('The worker that executed it.').nullable(),
        startedAt: instantOutput('When it was leased.').nullable(),
        endedAt: instantOutput('When it ended.'),
        outcome: text('How the attempt ended: success, failed, lost, released, cancelled and the like.'),
        reason: text('Why.').nullable(),
        ends: z.enum(endedStatuses).nullable().describe('How the run ended with it, if it did.'),
      })
      .describe('How an attempt ended.'),
  ),
  { id: 'Attempt' },
)
