import { z } from 'zod'
import { clockMarks } from '../../core/cron/clock-mark.ts'
import type { HintView, LedgerView, VersionView } from '../../store/views.ts'
import { hints, nextDecision, source } from '../explain/decision-schema.ts'
import { openOutput } from '../fields/added-fields.ts'
import { outputShape } from '../fields/field-schema.ts'
import { queueCreatedSchema } from '../queue/queue-created.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { Schedule, ScheduleDefinition } from './schedule-answer.ts'
import { scheduleBrief, scheduleWrittenBrief, upcomingBrief } from './schedule-brief.ts'
import { givenFields } from './schedule-input.ts'
import type { ScheduleWritten } from './schedule-writes.ts'
import type { UpcomingRun } from './upcoming.ts'

/** What was written, in the words of the input. */
const definition = {
  name: text('The name of the schedule.'),
  ...outputShape(givenFields),
}

/** Where it stands. */
const state = {
  id: text('The id of the schedule; a deleted one is known by it alone.'),
  version: count('Grows with every change of what was written.'),
  disabled: z
    .strictObject({ at: instantOutput('Since when.'), reason: text('Why.') })
    .nullable()
    .describe('A pause without end.'),
  paused: z
    .strictObject({ until: instantOutput('Until when.'), reason: text('Why.') })
    .nullable()
    .describe('A pause with an end.'),
  hints,
  failureCount: count('Occurrences that failed in a row.'),
  runsCount: count('Occurrences that have become runs.'),
  lastPlannedAt: instantOutput('The newest instant that was planned.').nullable(),
  anchorAt: instantOutput('What intervals and bounds are measured from.'),
  nextRunAt: instantOutput('The next nominal instant, if there is one.').nullable(),
  nextDueAt: instantOutput('When that is due: nominal and spread.').nullable(),
  nextDecision: nextDecision.nullable(),
  waitsFor: text('The id of the run whose end it waits for.').nullable(),
  wakeAt: instantOutput('When it is looked at next.').nullable(),
  timedAt: instantOutput('When its timing was written last.'),
  managedBy: text('The source whose file looks after it: what it says is changed there.').exactOptional(),
  createdAt: instantOutput('When it was created.'),
  updatedAt: instantOutput('When it was written last.'),
  deletedAt: instantOutput('When it was deleted.').nullable(),
}

export const scheduleSchema = noted(
  outputOf<Schedule>()(
    openOutput('schedule', { ...definition, ...state }).describe(
      'A schedule: what was written of it, and where it stands.',
    ),
  ),
  {
    id: 'Schedule',
    brief: scheduleBrief,
    // With its id: one that was deleted and made anew counts its versions from the beginning, and is another.
    version: ({ id, version }: Schedule) => `${id}.${version}`,
  },
)

const definitionSaid = noted(
  outputOf<ScheduleDefinition>()(openOutput('schedule', definition).describe('What was written of a schedule.')),
  { id: 'ScheduleDefinition' },
)

export const upcomingRun = noted(
  outputOf<UpcomingRun>()(
    z
      .strictObject({
        at: instantOutput('The nominal instant.'),
        dueAt: instantOutput('When it starts at the earliest: nominal and spread.'),
        source,
        isEstimate: flag('Whether it counts from the end of a run that has not ended, as if runs took no time.'),
        zone: text('The zone of the cron, by whose clocks people read it.').exactOptional(),
        dst: z
          .strictObject({
            mark: z.enum(clockMarks).describe('What it does.'),
            says: text('The same as a clause for people.'),
          })
          .describe('What a change of the clocks does to it, or to the time since the one before.')
          .exactOptional(),
      })
      .describe('An occurrence to come.'),
  ),
  { id: 'UpcomingRun', brief: upcomingBrief },
)

const { name: _, ...others } = definition

export const scheduleWritten = noted(
  outputOf<ScheduleWritten>()(
    z.strictObject({
      answer: z.enum(['created', 'updated', 'unchanged']).describe('What came of it.'),
      changed: z.array(z.string()).describe('The fields that are new or other than before.'),
      was: openOutput('schedule', others).describe(
        'What the changed fields said before; nothing of those that are new.',
      ),
      inWords: text('What was written, in a few sentences.'),
      schedule: scheduleSchema,
      queueCreated: queueCreatedSchema.describe('The queue that it names, where that is new.').exactOptional(),
      next: z.array(upcomingRun).describe('The next occurrences, at most five.'),
    }),
  ),
  { brief: scheduleWrittenBrief },
)

/** What is told of a row of the ledger wherever it is told. */
export const ledgerShape = {
  from: instantOutput('The nominal instant, or the first of many.'),
  to: instantOutput('The last of many, or the same.'),
  count: count('How many occurrences the row stands for.'),
  countIsAtLeast: flag('Whether there were more than could be counted.'),
  outcome: text('How it ended: the status of its run, fired while that is live, or why there was no run.'),
  runId: text('The run that it became.').nullable(),
  causedBy: text('The run that stood in its way.').nullable(),
  recordedAt: instantOutput('When the row was written first.'),
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

/** What is told of a hint wherever it is told. */
export const hintShape = {
  kind: z.enum(['interval', 'oneshot']).describe('How often, or once.'),
  value: count('Ms between two runs for an interval, epoch ms for a one-shot.'),
  expiresAt: instantOutput('Until when it counts.'),
  reason: text('Why it was given.'),
  author: text('Who gave it.'),
  createdAt: instantOutput('When it was given.'),
  ended: z
    .strictObject({
      at: instantOutput('When.'),
      by: z.enum(['consumed', 'replaced', 'cleared', 'expired']).describe('How.'),
    })
    .nullable()
    .describe('When and how it ended, if it has.'),
}

export const hintSchema = noted(outputOf<HintView>()(z.strictObject(hintShape).describe('A hint that was given.')), {
  id: 'Hint',
})

/** What a schedule said from one change to the next, and what that change was. */
export interface ScheduleVersion extends VersionView<ScheduleDefinition> {
  readonly changed: readonly string[]
}

export const scheduleVersion = noted(
  outputOf<ScheduleVersion>()(
    z
      .strictObject({
        version: count('The number of the version.'),
        content: definitionSaid,
        at: instantOutput('When it was written.'),
        actor: text('By whom.'),
        door: text('Through which door; null where nobody knows it any more.').nullable(),
        reason: text('Why, if that was said.').nullable(),
        changed: z
          .array(z.string())
          .describe('The fields that are other than in the version before; all of the first.'),
      })
      .describe('What a schedule said at a time.'),
  ),
  { id: 'ScheduleVersion' },
)
