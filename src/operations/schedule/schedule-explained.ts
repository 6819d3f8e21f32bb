import { z } from 'zod'
import { moves, type RunStatus } from '../../core/run/run-state.ts'
import type { NextDecision } from '../../core/schedule/decision.ts'
import type { AppliedRule, Candidate } from '../explain/candidates.ts'
import { nextDecision } from '../explain/decision-schema.ts'
import { type ExplainedRetries, retriesSchema } from '../explain/explain-retries.ts'
import { appliedRule, candidate, rederived, takers, unblock } from '../explain/explain-schema.ts'
import type { Takers } from '../explain/fleet.ts'
import type { Rederived } from '../explain/rederive.ts'
import type { ExplainedPart } from '../part.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { type AwaitedRun, type ScheduleCode, scheduleReasons } from '../reasons/schedule-reasons.ts'
import { advice, count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { ExplainedHint } from './explained-hint.ts'
import type { ExplainedLedgerRow } from './explained-ledger.ts'
import { scheduleExplainedBrief } from './schedule-brief.ts'
import { hintShape, ledgerShape, upcomingRun } from './schedule-schema.ts'
import type { ScheduleSituation } from './schedule-situation.ts'
import type { UpcomingRun } from './upcoming.ts'

/** Why a schedule runs next when it does, or does not run. */
export interface ScheduleExplained extends ScheduleSituation {
  readonly schedule: string
  readonly id: string
  /** The time zone of its cron. */
  readonly zone: string | null
  readonly at: number
  /** How long it has been overdue, if it is. */
  readonly lateMs: number | null
  readonly next: UpcomingRun | null
  readonly decision: NextDecision | null
  readonly candidates: readonly Candidate[]
  readonly rules: readonly AppliedRule[]
  readonly rederived: Rederived
  readonly spread: { readonly offsetMs: number; readonly why: string } | null
  readonly backoff: {
    readonly failures: number
    readonly everyMs: number
    readonly waitMs: number
    readonly why: string
  } | null
  /** The retry settings of its runs. */
  readonly retries: ExplainedRetries | null
  readonly hints: readonly ExplainedHint[]
  readonly waitsFor: AwaitedRun | null
  readonly live: readonly string[]
  readonly last: readonly ExplainedLedgerRow[]
  readonly workers: Takers
  /** What parts know of it. */
  readonly parts: readonly ExplainedPart[]
  readonly notes: readonly string[]
}

const awaited = outputOf<AwaitedRun>()(
  z
    .strictObject({
      run: text('The id of the run.'),
      status: z.enum(Object.keys(moves) as [RunStatus, ...RunStatus[]]).describe('Its status.'),
      code: z.enum(Object.keys(runReasons) as [RunCode, ...RunCode[]]).describe('The code of its state.'),
      sentence: text('The same in words.'),
      unblock: z.array(unblock).describe('What would unblock it.'),
    })
    .describe('The run whose end it waits for.'),
)

const hint = noted(
  outputOf<ExplainedHint>()(
    z
      .strictObject({
        ...hintShape,
        counts: flag('Whether it is in force.'),
        why: text('Why, in words.'),
      })
      .describe('A hint, and whether it is in force.'),
  ),
  { id: 'HintTold' },
)

export const explainedLedgerRow = noted(
  outputOf<ExplainedLedgerRow>()(
    z
      .strictObject({
        ...ledgerShape,
        why: text('The same in words.'),
        isRunKept: flag('Whether that run is still stored.').nullable(),
      })
      .describe('How an occurrence ended, in words.'),
  ),
  { id: 'LedgerRowTold' },
)

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

export const scheduleExplained = noted(
  outputOf<ScheduleExplained>()(
    z
      .strictObject({
        schedule: text('The name of the schedule.'),
        id: text('Its id.'),
        zone: text('The zone of its cron, where it has one.').nullable(),
        at: instantOutput('The instant of this answer.'),
        code: z
          .enum(Object.keys(scheduleReasons) as [ScheduleCode, ...ScheduleCode[]])
          .describe('The code of its state.'),
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
        hints: z.array(hint).describe('Its latest hints, newest first.'),
        waitsFor: awaited.nullable(),
        live: z.array(z.string()).describe('Its runs that have not ended; a few when there are many.'),
        last: z.array(explainedLedgerRow).describe('How its last occurrences ended, newest first.'),
        workers: takers,
        parts: z
          .array(
            z.strictObject({
              title: text('What the lines are about.'),
              lines: z.array(advice()).describe('The lines.'),
            }),
          )
          .describe('What else is known of it, such as its rules.'),
        notes: z.array(advice()).describe('What else keeps its runs from starting, in sentences.'),
      })
      .describe('Why a schedule runs next when it does, or does not run.'),
  ),
  { id: 'ScheduleExplained', brief: scheduleExplainedBrief },
)
