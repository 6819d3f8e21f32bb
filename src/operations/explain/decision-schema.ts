import { z } from 'zod'
import type { Decision, NextDecision } from '../../core/schedule/decision.ts'
import type { GovernorState, Hints, Source, TrailStep } from '../../core/schedule/governor.ts'
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
  'paused',
  'disabled',
  'none',
] as const

export const source = outputOf<Source>()(z.enum(sources).describe('What decided over the instant.'))
export const runSource = outputOf<RunSource>()(
  z
    .string()
    .describe(`What it comes from: ${[...sources, 'enqueued', 'run-now', 'retry'].join(', ')}, or a source of a part.`),
)

const intervalHint = z.strictObject({
  ms: count('The time between two runs that is suggested, in ms.'),
  expiresAt: instantOutput('Until when it counts.'),
})
const oneshotHint = z.strictObject({
  at: instantOutput('The instant that is suggested.'),
  expiresAt: instantOutput('Until when it counts.'),
})

export const hints = outputOf<Hints>()(
  z
    .strictObject({
      interval: intervalHint.describe('A suggestion how often to run.').optional(),
      oneshot: oneshotHint.describe('A suggestion to run once.').optional(),
    })
    .describe('The suggestions that count, one of each kind at most.'),
)

const memory = outputOf<GovernorState>()(
  z
    .strictObject({
      failureCount: count('Occurrences that failed in a row.').optional(),
      hints: hints.optional(),
      pausedUntil: instantOutput('When the pause ends.').optional(),
      anchorAt: instantOutput('What intervals and bounds are measured from.').optional(),
      lastPlannedAt: instantOutput('The newest instant that was planned.').optional(),
      gridAnchorAt: instantOutput('Where the grid of from start begins.').optional(),
      runsCount: count('Occurrences that have become runs.').optional(),
    })
    .describe(
      'What was remembered when it was decided; with the version of the schedule it gives the same answer again.',
    ),
)

/** The rules of the governor, in the order in which it looks at them. */
export const trailRule = z
  .enum([
    'enabled',
    'pause',
    'max-runs',
    'baseline',
    'backoff',
    'interval-hint',
    'oneshot-hint',
    'min',
    'max',
    'start-at',
    'last-planned',
    'end-at',
  ])
  .describe('The rule that was looked at.')

const step = outputOf<TrailStep>()(
  z.strictObject({
    rule: trailRule,
    from: instantOutput('The instant it found.').nullable(),
    at: instantOutput('The instant it left behind.').nullable(),
    effect: z.enum(['won', 'lost', 'ignored', 'moved', 'stopped']).describe('What came of it.'),
    why: text('The reason, in words.'),
  }),
)

const decisionShape = {
  at: instantOutput('When it was decided.'),
  version: count('The version of the schedule it was decided by.'),
  state: memory.optional(),
  unmeasured: z
    .array(z.enum(['max', 'delay']))
    .describe('What counts from the end of the last occurrence, which had not come.')
    .optional(),
  trail: z.array(step).describe('Each rule that was looked at, and what came of it.'),
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
        winner: z.enum(['baseline', 'interval-hint', 'oneshot-hint']).nullable().describe('Whose wish it was.'),
        waitsForEnd: flag('Whether it is measured from the end of the occurrence before.'),
        passingAt: instantOutput('While it is paused: the first instant that passes by.').optional(),
      })
      .describe('Why the next instant is the one it is.'),
  ),
  { id: 'NextDecision' },
)
