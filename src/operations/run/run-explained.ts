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

/** Why a run was planned, what happened to it, and what it waits for. */
export interface RunExplained extends RunSituation {
  readonly run: string
  readonly at: number
  /** Null for a run that retention removed. */
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
    worker: text('The worker that executes it.').nullable(),
    isDead: flag('Whether that worker died, so that the run must be reclaimed.'),
    since: instantOutput('When it was leased.').nullable(),
    leaseExpiresAt: instantOutput('When its lease expires, unless it is renewed.').nullable(),
  })
  .describe('A run that blocks another.')

const waiting = outputOf<Waiting>()(
  z
    .strictObject({
      until: instantOutput(
        'When time alone ends the wait, where that is known; under a rate limit, at the earliest.',
      ).nullable(),
      before: count('How many runs are before it in line.'),
      beforeIsAtLeast: flag('Whether there may be more than were read.'),
      holders: z.array(holder).describe('The runs that block it; a few when there are many.'),
      holdersCount: count('How many runs block it.'),
      takers,
    })
    .describe('What a run that has not ended waits for.'),
)

const planned = outputOf<Planned>()(
  z
    .strictObject({
      source: runSource,
      sentence: text('The source in words.'),
      occurrenceAt: instantOutput('Its nominal instant.').nullable(),
      dueAt: instantOutput('When it was due: nominal instant plus spread.').nullable(),
      decision: decision.nullable(),
      candidates: z.array(candidate).describe('Each candidate for the instant, and its result.'),
      rules: z.array(appliedRule).describe('The rules applied to the winner, in order.'),
      rederived,
    })
    .describe('Why there is a run, and why at that instant.'),
)

const event = outputOf<TimelineEvent>()(
  z
    .strictObject({
      at: instantOutput('When.'),
      what: z.enum(timelineWords).describe('The event.'),
      detail: text('Details, in words.'),
    })
    .describe('A past or future event of a run.'),
)

const attempt = noted(
  outputOf<ExplainedAttempt>()(
    z
      .strictObject({
        fence: count('The number of the attempt.'),
        workerId: text('The id of the worker that executed it.').nullable(),
        worker: text('The name and host of that worker.').nullable(),
        startedAt: instantOutput('When it was leased.').nullable(),
        endedAt: instantOutput('When it ended.'),
        outcome: text('How the attempt ended: success, failed, lost, released, cancelled and the like.'),
        reason: text('Why.').nullable(),
        ends: z
          .enum(endedStatuses)
          .nullable()
          .describe('The status with which the run ended, if this attempt ended it.'),
        isCounted: flag('Whether it used one of the run’s attempts.'),
        verdict: text('What followed its end.'),
        nextAt: instantOutput('When the next attempt started, or may start.').nullable(),
      })
      .describe('An attempt, and what followed its end.'),
  ),
  { id: 'AttemptTold' },
)

const lateness = outputOf<Lateness>()(
  z
    .strictObject({
      against: z
        .enum(['due', 'not-before', 'enqueued'])
        .describe('What it is measured against: when it was due, could start at the earliest, or was created.'),
      at: instantOutput('The instant it is measured against.'),
      firedMs: count('How late its occurrence was fired, in ms; null for other work.').nullable(),
      startedMs: count(
        'How late its first attempt started, or how late it is so far, in ms; null without one.',
      ).nullable(),
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
    .describe('What its schedule did after it, and does next.'),
)

export const runExplained = noted(
  outputOf<RunExplained>()(
    z
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
        timeline: z.array(event).describe('Its events in order of time.'),
        attempts: z.array(attempt).describe('Each attempt that has ended, oldest first.'),
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
        notes: z.array(advice()).describe('Where to read more, and what was removed, in sentences.'),
      })
      .describe('Why a run was planned, what happened to it, and what it waits for.'),
  ),
  { id: 'RunExplained', brief: runExplainedBrief },
)
