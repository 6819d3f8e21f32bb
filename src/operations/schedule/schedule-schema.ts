import { z } from 'zod'
import { clockMarks } from '../../core/cron/clock-mark.ts'
import type { HintOutcome } from '../../core/timing/hint-outcome.ts'
import type { HintWithOutcome, LedgerView } from '../../store/views.ts'
import { authorKind, hints, nextDecision, source } from '../explain/decision-schema.ts'
import { openOutput } from '../fields/added-fields.ts'
import { outputShape } from '../fields/field-schema.ts'
import { queueCreatedSchema } from '../queue/queue-created.ts'
import { type AnswerOf, count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Schedule, ScheduleDefinition } from './schedule-answer.ts'
import { scheduleBrief, scheduleWrittenBrief, upcomingBrief } from './schedule-brief.ts'
import { givenFields } from './schedule-input.ts'
import { type ScheduleStanding, standingBrief, standingShape } from './schedule-standing.ts'
import type { ScheduleWritten } from './schedule-writes.ts'
import type { UpcomingRun } from './upcoming.ts'

/** The fields of the input. */
const definition = {
  name: text('The name of the schedule.'),
  ...outputShape(givenFields),
}

/** The state. */
const state = {
  id: text('The id of the schedule; a deleted one is known only by it.'),
  version: count('The version; each change of its fields increments it.'),
  disabled: z
    .strictObject({ at: instantOutput('When it was paused.'), reason: text('Why.') })
    .nullable()
    .describe('A pause without end.'),
  paused: z
    .strictObject({ until: instantOutput('When the pause ends.'), reason: text('Why.') })
    .nullable()
    .describe('A pause with an end.'),
  pauses: z
    .array(
      z.strictObject({
        by: authorKind,
        author: text('The author.'),
        until: instantOutput('When it ends.'),
        reason: text('Why.'),
      }),
    )
    .readonly()
    .describe('Its pauses with an end, one of each rank; the latest end counts.'),
  heldBy: text('The hold on it, such as that of its paused group: its runs wait.').exactOptional(),
  hints,
  hintEpoch: count('A number that grows with every edit, pause and hint of a person.'),
  failureCount: count('Occurrences that failed in a row.'),
  noopCount: count('Completed occurrences in a row that found nothing to do, where maxNoop is set.'),
  runsCount: count('Occurrences that have become runs.'),
  lastPlannedAt: instantOutput('The newest instant that was planned.').nullable(),
  anchorAt: instantOutput('The instant that intervals and bounds are measured from.'),
  nextRunAt: instantOutput('The next nominal instant, if there is one.').nullable(),
  nextDueAt: instantOutput('When that is due: nominal instant plus spread.').nullable(),
  nextDecision: nextDecision.nullable(),
  waitsFor: text('The id of the run whose end it waits for.').nullable(),
  wakeAt: instantOutput('When a worker checks it next.').nullable(),
  finished: text('The field by which it finished before its time, such as until.').nullable(),
  timedAt: instantOutput('When its timing was last written.'),
  managedBy: text('The config source that manages it: change it there.').exactOptional(),
  createdAt: instantOutput('When it was created.'),
  updatedAt: instantOutput('When it was last written.'),
  deletedAt: instantOutput('When it was deleted.').nullable(),
}

export const scheduleSchema = noted(
  outputOf<Schedule>()(
    openOutput('schedule', { ...definition, ...state }).describe('A schedule: its fields and its state.'),
  ),
  {
    id: 'Schedule',
    brief: scheduleBrief,
    // With its id: a schedule that was deleted and created again counts versions from 1, and has another id.
    version: ({ id, version }: Schedule) => `${id}.${version}`,
  },
)

export const clampedSchema = z
  .strictObject({
    field: z.enum(['every', 'until']).describe('The field.'),
    from: z.int().nullable().describe('The requested value, in ms; null: without end.'),
    to: z.int().describe('The value in force.'),
    why: text('Why, in words.'),
  })
  .describe('How a bound changed the requested pause, if it did.')

export const schedulePaused = noted(
  openOutput('schedule', { ...definition, ...state, clamped: clampedSchema.exactOptional() }).describe(
    'A schedule, and how a bound changed its pause.',
  ),
  { id: 'SchedulePaused', brief: scheduleBrief, version: ({ id, version }: Schedule) => `${id}.${version}` },
)

/** Further fields of the answer about a single schedule. */
export const scheduleStanding = noted(
  outputOf<ScheduleStanding>()(
    openOutput('schedule', { ...definition, ...state, ...standingShape }).describe(
      'A schedule: its fields, its state, and how it has fared.',
    ),
  ),
  { id: 'ScheduleStanding', brief: standingBrief, version: ({ id, version }: Schedule) => `${id}.${version}` },
)

const definitionSaid = noted(
  outputOf<ScheduleDefinition>()(openOutput('schedule', definition).describe('The fields of a schedule.')),
  { id: 'ScheduleDefinition' },
)

export const upcomingRun = noted(
  outputOf<UpcomingRun>()(
    z
      .strictObject({
        at: instantOutput('The nominal instant.'),
        dueAt: instantOutput('The earliest start: nominal instant plus spread.'),
        source,
        isEstimate: flag(
          'Whether it is an estimate: it counts from the end of a run that has not ended, as if runs took no time.',
        ),
        zone: text('The time zone of the cron.').exactOptional(),
        dst: z
          .strictObject({
            mark: z.enum(clockMarks).describe('The effect.'),
            says: text('The same as a clause for people.'),
          })
          .describe('The effect of a clock change on it, or on the time since the previous occurrence.')
          .exactOptional(),
      })
      .describe('A future occurrence.'),
  ),
  { id: 'UpcomingRun', brief: upcomingBrief },
)

const { name: _, ...others } = definition

export const scheduleWritten = noted(
  outputOf<ScheduleWritten>()(
    z.strictObject({
      answer: z.enum(['created', 'updated', 'unchanged']).describe('The result of the write.'),
      changed: z.array(z.string()).describe('The fields that are new or changed.'),
      was: openOutput('schedule', others).describe('The previous values of the changed fields; new fields are absent.'),
      inWords: text('The schedule in a few sentences.'),
      schedule: scheduleSchema,
      queueCreated: queueCreatedSchema.describe('The queue that this write created, if it did.').exactOptional(),
      next: z.array(upcomingRun).describe('The next occurrences, at most five.'),
    }),
  ),
  { brief: scheduleWrittenBrief },
)

/** The fields of a ledger row that every answer has. */
export const ledgerShape = {
  from: instantOutput('The nominal instant, or the first of many.'),
  to: instantOutput('The last of many, or the same.'),
  count: count('How many occurrences the row stands for.'),
  countIsAtLeast: flag('Whether there were more than could be counted.'),
  outcome: text('How it ended: the status of its run, fired while the run is live, or why there was no run.'),
  runId: text('The run that it became.').nullable(),
  causedBy: text('The run that blocked it.').nullable(),
  recordedAt: instantOutput('When the row was first written.'),
  endedAt: instantOutput('When it ended.').nullable(),
}

export const ledgerRow = noted(
  outputOf<LedgerView>()(
    z
      .strictObject({
        ...ledgerShape,
        decision: nextDecision.nullable(),
      })
      .describe('How an occurrence ended, or many in a row that ended alike without a run.'),
  ),
  { id: 'LedgerRow' },
)

/** The fields of a hint that every answer has. */
export const hintShape = {
  kind: z.enum(['interval', 'oneshot']).describe('A repeated interval, or a single run.'),
  value: count('Ms between two runs for an interval, epoch ms for a one-shot.'),
  expiresAt: instantOutput('When it expires.'),
  reason: text('Why it was given.'),
  author: text('The author.'),
  by: authorKind,
  createdAt: instantOutput('When it was given.'),
  wasNextAt: instantOutput('The next instant of the schedule before it was given.').nullable(),
  nextAt: instantOutput('The next instant after.').nullable(),
  ended: z
    .strictObject({
      at: instantOutput('When.'),
      by: z.enum(['consumed', 'replaced', 'cleared', 'expired', 'edited']).describe('How.'),
    })
    .nullable()
    .describe('When and how it ended, if it has.'),
}

const runCounts = {
  starts: z.number().describe('Runs that it started.'),
  failures: z.number().describe('How many of these runs failed.'),
  firstFailureMs: count('How long after the beginning the first of them failed, in ms.').nullable(),
}

const hintOutcome = outputOf<HintOutcome>()(
  z.strictObject({
    ...runCounts,
    baseline: z
      .strictObject({ runs: count('The runs that this is computed from.'), ...runCounts })
      .nullable()
      .describe('The same by its own timing, in the same hours of the seven days before; null: not enough runs.'),
    isAtLeast: flag('Whether older runs are not counted.'),
  }),
)

export const hintSchema = noted(
  outputOf<HintWithOutcome>()(
    z
      .strictObject({
        ...hintShape,
        outcome: hintOutcome.nullable().describe('The outcome of the hint, once it has ended.'),
        outrankedBy: authorKind
          .describe('The author of the hint that counts in its place until that ends.')
          .exactOptional(),
      })
      .describe('A hint that was given, and its outcome.'),
  ),
  { id: 'Hint' },
)

export const scheduleVersion = noted(
  z
    .strictObject({
      version: count('The number of the version.'),
      content: definitionSaid,
      at: instantOutput('When it was written.'),
      actor: text('The actor that wrote it.'),
      door: text('The door it was written through; null: not recorded.').nullable(),
      reason: text('The reason, if one was given.').nullable(),
      changed: z
        .array(z.string())
        .describe('The fields that differ from the previous version; all fields of the first.'),
    })
    .describe('A version of a schedule.'),
  { id: 'ScheduleVersion' },
)
/** A version of a schedule, and the change that wrote it. */
export type ScheduleVersion = AnswerOf<typeof scheduleVersion>
