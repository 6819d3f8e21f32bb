import { z } from 'zod'
import { retriesSchema } from '../explain/explain-retries.ts'
import { unblock } from '../explain/unblock.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { explainedLedgerRow } from '../schedule/explained-ledger.ts'
import { upcomingRun } from '../schedule/schedule-schema.ts'
import { type AnswerOf, advice, count, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { explainedAttempt } from './explained-attempts.ts'
import { planned } from './planned.ts'
import { runExplainedBrief } from './run-brief.ts'
import { waiting } from './run-situation.ts'
import { runStatuses } from './run-statuses.ts'
import { lateness, timelineEvent } from './timeline.ts'

const around = z
  .strictObject({
    id: text('The id of the schedule.'),
    name: text('Its name.'),
    zone: text('The zone of its cron, where it has one.').nullable(),
    after: explainedLedgerRow.nullable(),
    next: upcomingRun.nullable(),
  })
  .describe('What its schedule did after it, and does next.')
export type ScheduleOfRun = AnswerOf<typeof around>

const answer = z
  .strictObject({
    run: text('The id of the run.'),
    at: instantOutput('The instant of this answer.'),
    status: z.enum(runStatuses).nullable().describe('Its status; null: retention removed it.'),
    code: z.enum(Object.keys(runReasons) as [RunCode, ...RunCode[]]).describe('The code of its state and cause.'),
    sentence: text('The same in words.'),
    unblock: z.array(unblock).describe('What would unblock it; what happens by itself comes first.'),
    waiting: waiting.nullable(),
    queue: text('Its queue.'),
    schedule: around.nullable(),
    planned,
    timeline: z.array(timelineEvent).describe('Its events in order of time.'),
    attempts: z.array(explainedAttempt).describe('Each attempt that has ended, oldest first.'),
    budget: z
      .strictObject({
        used: count('Attempts used.'),
        max: count('The most attempts, by the settings in force now.').nullable(),
      })
      .nullable()
      .describe('Its attempts.'),
    retries: retriesSchema.nullable(),
    lateness: lateness.nullable(),
    next: z
      .strictObject({
        what: text('What happens.'),
        at: instantOutput('When, where that is known.').nullable(),
      })
      .describe('What happens next.'),
    notes: z.array(advice()).describe('Further notes: where to read more, and which facts were removed.'),
  })
  .describe('Why a run was planned, what happened to it, and what it waits for.')

/** Why a run was planned, what happened to it, and what it waits for. */
export type RunExplained = AnswerOf<typeof answer>

export const runExplained = noted(answer, { id: 'RunExplained', brief: runExplainedBrief })
