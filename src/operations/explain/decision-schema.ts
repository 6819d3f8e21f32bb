import { z } from 'zod'
import type { Decision, NextDecision } from '../../core/schedule/decision.ts'
import {
  type GovernorState,
  type Hints,
  sources,
  type TrailStep,
  trailEffects,
  trailRules,
  winners,
} from '../../core/schedule/governor.ts'
import { authorKinds } from '../../core/schedule/hint-author.ts'
import type { RunSource } from '../../store/port.ts'
import { count, flag, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

export const source = z.enum(sources).describe('What decided the instant.')
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
  apartMs: count('The least time after the occurrence before it, by the everyMin of the namespace, in ms.').optional(),
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
        .describe('Hints of lower ranks, which are in force again when the hints of higher ranks have ended.')
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
      gridAnchorAt: instantOutput('The instant at which the grid of `from: start` begins.').optional(),
      runsCount: count('Occurrences that have become runs.').optional(),
      finished: text('The field that had ended the schedule, such as until.').optional(),
    })
    .describe(
      'The stored state that was the input of the decision; the same version of the schedule decides the same from it.',
    ),
)

export const trailRule = z.enum(trailRules).describe('The rule.')
export const trailEffect = z.enum(trailEffects)

const step = outputOf<TrailStep>()(
  z.strictObject({
    rule: trailRule,
    from: instantOutput('The instant before the rule.').nullable(),
    at: instantOutput('The instant after the rule.').nullable(),
    effect: trailEffect.describe('The effect of the rule.'),
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
        isInverted: flag('Whether the calendar had to be closed.'),
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
      recurringFraction: z.number().describe('The largest offset, as a fraction of the period.'),
      recurringCapMs: count('The largest offset, in ms.'),
      oneShotMaxMs: count('The largest offset of a one-shot, in ms.'),
      oneShotMinuteModulo: count('Only one-shots at a minute that is a multiple of this number are moved.'),
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
        winner: z.enum(winners).nullable().describe('The candidate that won.'),
        waitsForEnd: flag('Whether it is measured from the end of the occurrence before.'),
        passingAt: instantOutput(
          'While the schedule is paused: the first instant that passes without a run.',
        ).optional(),
        closedFrom: instantOutput('The first instant that closed calendars or a quota skip.').optional(),
        closedFor: text('The outcome of these instants. Default: calendar.').optional(),
      })
      .describe('Why the schedule runs next at this instant.'),
  ),
  { id: 'NextDecision' },
)
