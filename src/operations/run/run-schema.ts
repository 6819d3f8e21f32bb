import { z } from 'zod'
import { agentStates } from '../../core/agent/agent-state.ts'
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
        leasedAt: instantOutput('When it was leased.'),
        expiresAt: instantOutput('When the lease expires, unless it is renewed.'),
        cancelRequestedAt: instantOutput('When its cancellation was requested.').nullable(),
        cancelReason: text('Why its cancellation was requested.').nullable(),
        state: z
          .enum(agentStates)
          .describe('What the attempt is doing, where its handler or host reports it.')
          .nullable(),
      })
      .describe('Its lease.'),
  ),
  { id: 'Lease' },
)

const waiting = z.strictObject({
  for: z
    .enum(['instant', 'key', 'overlap'])
    .describe('What it waits for: an instant, a slot under its key, or the end of another run of its schedule.'),
  until: instantOutput('When the wait ends, where that is known.').exactOptional(),
  reason: text('Why, in words.').nullable(),
})

const line = {
  id: text('The id of the run.'),
  queue: text('Its queue.'),
  status: z.enum(runStatuses).describe('Its status.'),
  waiting: waiting.describe('Why a ready run is not in line.').exactOptional(),
  fence: count('The number of its last lease, which is the number of the attempt.'),
  attempts: count('Attempts used.'),
  releases: count('Clean releases in a row; null once it has ended.').nullable(),
  deaths: count('Leases lost because a worker died; null once it has ended.').nullable(),
  priority: count('Lower goes first.'),
  enqueuedAt: instantOutput('When it was created.'),
  schedule: text('The name of its schedule.').nullable(),
  scheduleId: text('The id of its schedule.').nullable(),
  occurrenceAt: instantOutput('Its nominal instant.').nullable(),
  dueAt: instantOutput('When it was due: nominal instant plus spread.').nullable(),
  source: runSource,
  notBefore: instantOutput('Do not start the run before this instant.').nullable(),
  deadline: instantOutput('It does not start from this instant on.').nullable(),
  lateAfter: instantOutput('Its first attempt does not start from this instant on.').nullable(),
  concurrencyKey: text('Its concurrency key.').nullable(),
  idempotencyKey: text('Its idempotency key.').nullable(),
  dedupeKey: text('Its dedupe key.').nullable(),
  waitsFor: text('The run that must end before it.').nullable(),
  retryOf: text('The run that it is a retry of.').nullable(),
  repeatable: flag('Whether it is tried again when its effect is unknown.'),
  policyVersion: count('The version of its queue’s policy when it was created.'),
  target: targetStored.nullable(),
  ...executionSchema,
  lease: lease.nullable(),
  attempt: openOutput('attempt', { fence: count('The number of the attempt.') })
    .describe('Fields that parts add about its newest attempt; in lists, only about an attempt at work.')
    .exactOptional(),
  parked: z
    .strictObject({ at: instantOutput('When the run was parked.'), reason: text('Why.') })
    .nullable()
    .describe('Set when it is parked and needs a person.'),
  end: z
    .strictObject({
      status: z.enum(endedStatuses).describe('How it ended.'),
      at: instantOutput('When it ended.'),
      reason: text('The reason, if one is stored.').nullable(),
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
        text: text('The output; a line of its own marks where bytes were dropped.'),
        droppedBytes: count('Bytes that were dropped between the first and the last half.'),
      })
      .describe('The output of an attempt.'),
  ),
  { id: 'Output' },
)

export const runSchema = noted(
  outputOf<Run>()(
    openOutput('run', {
      ...line,
      payload: z.unknown().describe('Its payload.').exactOptional(),
      decision: decision.nullable(),
      result: z
        .strictObject({
          value: z.unknown().describe('Plain data; a result too long to keep is cut text.'),
          truncated: flag('Whether it was cut.'),
        })
        .nullable()
        .describe('Its result.'),
      output: outputSchema.nullable().exactOptional(),
    }).describe('A run with everything that is kept of it.'),
  ),
  { id: 'Run', brief: runBrief },
)

export const runList = outputOf<RunList>()(
  z.strictObject({
    runs: z.array(runLine).describe('May hold fewer runs than requested, even none, while `next` is not null.'),
    next: text('Pass it as `before` to get the next page; null at the end.').nullable(),
  }),
)

export const attemptSchema = noted(
  outputOf<AttemptView>()(
    openOutput('attempt', {
      fence: count('The number of the attempt.'),
      workerId: text('The worker that executed it.').nullable(),
      startedAt: instantOutput('When it was leased.').nullable(),
      endedAt: instantOutput('When it ended.'),
      outcome: text('How the attempt ended, such as success, failed, lost, released or cancelled.'),
      reason: text('Why.').nullable(),
      ends: z.enum(endedStatuses).nullable().describe('The status with which the run ended, if this attempt ended it.'),
    }).describe('How an attempt ended.'),
  ),
  { id: 'Attempt' },
)
