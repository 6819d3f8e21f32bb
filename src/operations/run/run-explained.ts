import { z } from 'zod'
import type { RunStatus } from '../../core/run/run-state.ts'
import { decision, runSource } from '../explain/decision-schema.ts'
import { type ExplainedRetries, retriesSchema } from '../explain/explain-retries.ts'
import { appliedRule, candidate, rederived, takers, unblock } from '../explain/explain-schema.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { explainedLedgerRow } from '../schedule/schedule-explained.ts'
import { upcomingRun } from '../schedule/schedule-schema.ts'
import { advice, count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { ScheduleOfRun } from './explain-run.ts'
import type { ExplainedAttempt } from './explained-attempts.ts'
import type { Planned } from './planned.ts'
import { runExplainedBrief } from './run-brief.ts'
import type { RunSituation, Waiting } from './run-situation.ts'
import { endedStatuses, runStatuses } from './run-statuses.ts'
import { type Lateness, type TimelineEvent, timelineWords } from './timeline.ts'

/** Why a run was planned, what became of it, and what it waits for. */
export interface RunExplained extends RunSituation {
  readonly run: string
  readonly at: number
  /** Null of a run that retention has removed. */
  readonly status: RunStatus | null
  readonly queue: string
  readonly schedule: ScheduleOfRun | null
  readonly planned: Planned
  readonly timeline: readonly TimelineEvent[]
  readonly attempts: readonly ExplainedAttempt[]
  readonly budget: { readonly used: number; readonly max: number | null } | null
  readonly retries: ExplainedRetries | null
  readonly lateness: Lateness | null
  readonly next: { readonly what: string; readonly at: number | null }
  readonly notes: readonly string[]
}

const holder = z
  .strictObject({
    run: text('The id of the run.'),
    worker: text('The worker that is at it.').nullable(),
    isDead: flag('Whether that worker died, so that the run waits to be taken back.'),
    since: instantOutput('Since when.').nullable(),
    leaseExpiresAt: instantOutput('Until when, unless its lease is renewed.').nullable(),
  })
  .describe('A run that another one waits for.')

const waiting = outputOf<Waiting>()(
  z
    .strictObject({
      until: instantOutput(
        'When time alone ends the waiting, where that is known; under a rate, at the earliest.',
      ).nullable(),
      before: count('How many runs are before it in line.'),
      beforeIsAtLeast: flag('Whether there may be more than were looked at.'),
      holders: z.array(holder).describe('The runs that hold what it waits for, a few of very many.'),
      holdersCount: count('How many they are.'),
      takers,
    })
    .describe('What a run that has not ended waits for.'),
)

const planned = outputOf<Planned>()(
  z
    .strictObject({
      source: runSource,
      sentence: text('The source in words.'),
      occurrenceAt: instantOutput('The nominal instant that it stands for.').nullable(),
      dueAt: instantOutput('When that was due: nominal and spread.').nullable(),
      decision: decision.nullable(),
      candidates: z.array(candidate).describe('Each wish for the instant, and what became of it.'),
      rules: z.array(appliedRule).describe('What the rules made of the winner, in their order.'),
      rederived,
    })
    .describe('Why there is a run, and why for that instant.'),
)

const event = outputOf<TimelineEvent>()(
  z
    .strictObject({
      at: instantOutput('When.'),
      what: z.enum(timelineWords).describe('What happened, or will.'),
      detail: text('More of it, in words.'),
    })
    .describe('Something that happened to a run, or will.'),
)

const attempt = noted(
  outputOf<ExplainedAttempt>()(
    z
      .strictObject({
        fence: count('The number of the attempt.'),
        workerId: text('The id of the worker that executed it.').nullable(),
        worker: text('That worker as people know it.').nullable(),
        startedAt: instantOutput('When it was leased.').nullable(),
        endedAt: instantOutput('When it ended.'),
        outcome: text('How the attempt ended: success, failed, lost, released, cancelled and the like.'),
        reason: text('Why.').nullable(),
        ends: z.enum(endedStatuses).nullable().describe('How the run ended with it, if it did.'),
        isCounted: flag('Whether its end used the budget of the run.'),
        verdict: text('What was made of its end.'),
        nextAt: instantOutput('When the next attempt started, or may start.').nullable(),
      })
      .describe('An attempt, and what was made of its end.'),
  ),
  { id: 'AttemptTold' },
)

const lateness = outputOf<Lateness>()(
  z
    .strictObject({
      against: z
        .enum(['due', 'not-before', 'enqueued'])
        .describe('What it is measured against: when it was due, could start at the earliest, or was made.'),
      at: instantOutput('That instant.'),
      firedMs: count('How late its occurrence was fired, in ms; null of other work.').nullable(),
      startedMs: count('How late its first attempt started, or is by now, in ms; null without one.').nullable(),
      isGrowing: flag('Whether it has not started yet.'),
    })
    .describe('How late it is, or was.'),
)

const around = outputOf<ScheduleOfRun>()(
  z
    .strictObject({
      id: text('The id of the schedule.'),
      name: text('Its name.'),
      zone: text('The zone of its cron, where it has one.').nullable(),
      after: explainedLedgerRow.nullable(),
      next: upcomingRun.nullable(),
    })
    .describe('What its schedule did next, and does.'),
)

export const runExplained = noted(
  outputOf<RunExplained>()(
    z
      .strictObject({
        run: text('The id of the run.'),
        at: instantOutput('The instant that all of it speaks of.'),
        status: z.enum(runStatuses).nullable().describe('Where it stands; null once retention has removed it.'),
        code: z
          .enum(Object.keys(runReasons) as [RunCode, ...RunCode[]])
          .describe('Where it stands and why, in one word.'),
        sentence: text('The same in words.'),
        unblock: z.array(unblock).describe('What would get it on, what comes by itself first.'),
        waiting: waiting.nullable(),
        queue: text('The queue that it goes through.'),
        schedule: around.nullable(),
        planned,
        timeline: z.array(event).describe('Its life in the order of time.'),
        attempts: z.array(attempt).describe('Each attempt that has ended, oldest first.'),
        budget: z
          .strictObject({
            used: count('Ends that used it.'),
            max: count('How many may, by what holds at this moment.').nullable(),
          })
          .nullable()
          .describe('How many attempts it has used.'),
        retries: retriesSchema.nullable(),
        lateness: lateness.nullable(),
        next: z
          .strictObject({
            what: text('What happens.'),
            at: instantOutput('When, where that is known.').nullable(),
          })
          .describe('What happens next.'),
        notes: z.array(advice()).describe('Where more is kept, and what cannot be told any more, in sentences.'),
      })
      .describe('Why a run was planned, what became of it, and what it waits for.'),
  ),
  { id: 'RunExplained', brief: runExplainedBrief },
)
