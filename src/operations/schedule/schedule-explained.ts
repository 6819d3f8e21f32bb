import { z } from 'zod'
import { moves, type RunStatus } from '../../core/run/run-state.ts'
import { appliedRule, candidate } from '../explain/candidates.ts'
import { nextDecision } from '../explain/decision-schema.ts'
import { retriesSchema } from '../explain/explain-retries.ts'
import { takers } from '../explain/fleet.ts'
import { rederived } from '../explain/rederive.ts'
import { unblock } from '../explain/unblock.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { type ScheduleCode, scheduleReasons } from '../reasons/schedule-reasons.ts'
import { type AnswerOf, advice, count, instantOutput, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import { explainedHint } from './explained-hint.ts'
import { explainedLedgerRow } from './explained-ledger.ts'
import { scheduleExplainedBrief } from './schedule-brief.ts'
import { upcomingRun } from './schedule-schema.ts'

const awaited = z
  .strictObject({
    run: text('The id of the run.'),
    status: z.enum(Object.keys(moves) as [RunStatus, ...RunStatus[]]).describe('Its status.'),
    code: z.enum(Object.keys(runReasons) as [RunCode, ...RunCode[]]).describe('The code of its state.'),
    sentence: text('The same in words.'),
    unblock: z.array(unblock).describe('What would unblock it.'),
  })
  .describe('The run whose end it waits for.')
export type AwaitedRun = AnswerOf<typeof awaited>

const share = z.strictObject({
  offsetMs: z.int().describe('The offset from its nominal instant, in ms; earlier is negative.'),
  why: text('Why, in words.'),
})

const backoff = z.strictObject({
  failures: count('Occurrences that failed in a row.'),
  everyMs: count('The wait without failures, in ms.'),
  waitMs: count('The wait with these failures, in ms.'),
  why: text('Why, in words.'),
})

const answer = z
  .strictObject({
    schedule: text('The name of the schedule.'),
    id: text('Its id.'),
    zone: text('The zone of its cron, where it has one.').nullable(),
    at: instantOutput('The instant of this answer.'),
    code: z.enum(Object.keys(scheduleReasons) as [ScheduleCode, ...ScheduleCode[]]).describe('The code of its state.'),
    sentence: text('The same in words.'),
    unblock: z.array(unblock).describe('What would unblock it; what happens by itself comes first.'),
    lateMs: count('How long it has been overdue, in ms.').nullable(),
    next: upcomingRun.nullable(),
    decision: nextDecision.nullable(),
    candidates: z.array(candidate).describe('Each candidate for the next instant, and its result.'),
    rules: z.array(appliedRule).describe('The rules applied to the winner, in order.'),
    rederived,
    spread: share.nullable().describe('The offset of its due instant from the nominal one.'),
    backoff: backoff.nullable().describe('How failures in a row lengthen its interval.'),
    retries: retriesSchema.nullable(),
    hints: z.array(explainedHint).describe('Its latest hints, newest first.'),
    waitsFor: awaited.nullable(),
    live: z.array(z.string()).describe('Its runs that have not ended; a few when there are many.'),
    last: z.array(explainedLedgerRow).describe('How its last occurrences ended, newest first.'),
    workers: takers,
    parts: z
      .array(
        z.strictObject({
          title: text('The title of the lines.'),
          lines: z.array(advice()).describe('The lines.'),
        }),
      )
      .describe('Further facts about the schedule, such as its rules.'),
    notes: z.array(advice()).describe('Further reasons why its runs would not start, in sentences.'),
  })
  .describe('Why a schedule runs next when it does, or does not run.')

/** Why a schedule runs next when it does, or does not run. */
export type ScheduleExplained = AnswerOf<typeof answer>

export const scheduleExplained = noted(answer, { id: 'ScheduleExplained', brief: scheduleExplainedBrief })
