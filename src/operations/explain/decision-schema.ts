import { z } from 'zod'
import type { Decision, NextDecision } from '../../core/schedule/decision.ts'
import type { GovernorState, Hints, Source, TrailStep } from '../../core/schedule/governor.ts'
import { authorKinds } from '../../core/schedule/hint-author.ts'
import type { RunSource } from '../../store/port.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

const sources = [
  'baseline-cron',
  'baseline-interval',
  'baseline-once',
  'ai-interval',
  'ai-oneshot',
  'clamped-min',
  'clamped-max',
  'clamped-window',
  'clamped-calendar',
  'paused',
  'disabled',
  'none',
] as const

export const source = outputOf<Source>()(z.enum(sources).describe('What decided the instant.'))
export const runSource = outputOf<RunSource>()(
  z
    .string()
    .describe(
      `Its source: ${[...sources, 'enqueued', 'run-now', 'retry', 'test'].join(', ')}, or a source that a part adds.`,
    ),
)

/** Absent in stored hints of persons. */
export const authorKind = z.enum(authorKinds).describe('The kind of its author.')

const intervalHint = z.strictObject({
  ms: count('The suggested time between two runs, in ms.'),
  expiresAt: instantOutput('When it expires.'),
  by: authorKind.optional(),
})
const oneshotHint = z.strictObject({
  at: instantOutput('The suggested instant.'),
  expiresAt: instantOutput('When it expires.'),
  by: authorKind.optional(),
})

export const hints = outputOf<Hints>()(
  z
    .strictObject({
      interval: intervalHint.describe('A hint to run at this interval.').optional(),
      oneshot: oneshotHint.describe('A hint to run once.').optional(),
      outranked: z
        .array(
          z.union([
            z.strictObject({ kind: z.literal('interval').describe('An interval.'), ...intervalHint.shape }),
            z.strictObject({ kind: z.literal('oneshot').describe('A single run.'), ...oneshotHint.shape }),
          ]),
        )
        .describe('Hints of lower ranks, which count again when those above have ended.')
        .optional(),
    })
    .describe('The hints in force, at most one of each kind.'),
)

const memory = outputOf<GovernorState>()(
  z
    .strictObject({
      failureCount: count('Occurrences that failed in a row.').optional(),
      hints: hints.optional(),
      pausedUntil: instantOutput('When the pause ends.').optional(),
      anchorAt: instantOutput('The instant that intervals and bounds are measured from.').optional(),
      lastPlannedAt: instantOutput('The newest instant that was planned.').optional(),
      gridAnchorAt: instantOutput('The start of the grid for from start.').optional(),
      runsCount: count('Occurrences that have become runs.').optional(),
      finished: text('The field by which it had finished.').optional(),
    })
    .describe('The state it was decided from; with the same schedule version it gives the same answer again.'),
)

/** The rules of the governor, in the order in which it applies them. */
export const trailRule = z
  .enum([
    'enabled',
    'pause',
    'finished',
    'max-runs',
    'baseline',
    'backoff',
    'interval-hint',
    'oneshot-hint',
    'min',
    'max',
    'start-at',
    'last-planned',
    'window',
    'calendar',
    'end-at',
  ])
  .describe('The rule.')

const step = outputOf<TrailStep>()(
  z.strictObject({
    rule: trailRule,
    from: instantOutput('The instant before the rule.').nullable(),
    at: instantOutput('The instant after the rule.').nullable(),
    effect: z.enum(['won', 'lost', 'ignored', 'moved', 'stopped']).describe('The effect of the rule.'),
    why: text('The reason, in words.'),
    by: authorKind.optional(),
  }),
)

const decisionShape = {
  at: instantOutput('When it was decided.'),
  version: count('The version of the schedule that it was decided by.'),
  state: memory.optional(),
  unmeasured: z
    .array(z.enum(['max', 'delay']))
    .describe('The candidate measured from the end of the last occurrence, while that had not ended.')
    .optional(),
  calendars: z
    .array(
      z.strictObject({
        name: text('The name of the calendar.'),
        version: count('Its version.'),
        isInverted: flag('Whether it had to be closed.'),
      }),
    )
    .describe('The calendars that had to be open.')
    .optional(),
  window: z
    .strictObject({ zone: text('The time zone.'), cron: text('The open minutes.').optional() })
    .describe('The window that a hint had to stay in.')
    .optional(),
  spread: z
    .strictObject({
      version: count('The version of the settings.'),
      recurringFraction: z.number().describe('The fraction of its period.'),
      recurringCapMs: count('The most, in ms.'),
      oneShotMaxMs: count('The most for a one-shot, in ms.'),
      oneShotMinuteModulo: count('One-shots move from minutes that this number divides.'),
    })
    .describe('The settings by which its due instant was moved.')
    .optional(),
  trail: z.array(step).describe('Each rule that was applied, with its effect.'),
}

/** Why a run was planned for its instant. */
export const decision = noted(
  outputOf<Decision>()(z.strictObject(decisionShape).describe('Why it was planned for its instant.')),
  { id: 'Decision' },
)

export const nextDecision = noted(
  outputOf<NextDecision>()(
    z
      .strictObject({
        ...decisionShape,
        source,
        winner: z.enum(['baseline', 'interval-hint', 'oneshot-hint']).nullable().describe('The candidate that won.'),
        waitsForEnd: flag('Whether it is measured from the end of the occurrence before.'),
        passingAt: instantOutput('While the schedule is paused: the first instant that passes.').optional(),
        closedFrom: instantOutput('The first instant that closed calendars or a quota pass over.').optional(),
        closedFor: text('The outcome of these instants. Default: calendar.').optional(),
      })
      .describe('Why the next instant is the one it is.'),
  ),
  { id: 'NextDecision' },
)
