import { z } from 'zod'
import { advice, count, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { AppliedRule, Candidate } from './candidates.ts'
import { authorKind, trailRule } from './decision-schema.ts'
import type { Takers } from './fleet.ts'
import type { Rederived } from './rederive.ts'
import type { Unblock } from './unblock.ts'

export const unblock = noted(
  outputOf<Unblock>()(
    z
      .strictObject({
        what: advice('What it is.'),
        command: advice('The command that does it, where there is one.').nullable(),
        at: instantOutput('When it happens by itself, where that is known.').nullable(),
      })
      .describe('Something that would unblock it.'),
  ),
  { id: 'Unblock' },
)

const wishers = ['baseline', 'interval-hint', 'oneshot-hint'] as const

export const candidate = noted(
  outputOf<Candidate>()(
    z
      .strictObject({
        by: z.enum(wishers).describe('What asks for the instant: its own timing, or a hint.'),
        wishedAt: instantOutput('The instant asked for.').nullable(),
        at: instantOutput('The instant it competed with; an instant in the past is due at once.').nullable(),
        effect: z.enum(['won', 'lost', 'ignored']).describe('The result.'),
        why: text('Why, in words.'),
        hint: z
          .strictObject({
            by: authorKind,
            author: text('The author.'),
            reason: text('Why it was given.'),
            expiresAt: instantOutput('When it expires.'),
          })
          .nullable()
          .describe('The hint; null when it is no hint, or is not kept any more.'),
      })
      .describe('A candidate for the next instant.'),
  ),
  { id: 'Candidate' },
)

export const appliedRule = noted(
  outputOf<AppliedRule>()(
    z
      .strictObject({
        rule: trailRule,
        effect: z.enum(['won', 'lost', 'ignored', 'moved', 'stopped']).describe('What the rule did.'),
        from: instantOutput('The instant before the rule.').nullable(),
        at: instantOutput('The instant after the rule.').nullable(),
        why: text('Why, in words.'),
      })
      .describe('A rule that was applied.'),
  ),
  { id: 'AppliedRule' },
)

export const rederived = noted(
  outputOf<Rederived>()(
    z
      .strictObject({
        answer: z
          .enum(['same', 'differs', 'pruned', 'not-asked', 'unworkable'])
          .describe('Whether the result is the same, or why it cannot be checked.'),
        sentence: text('The same in words.'),
        differs: z
          .array(
            z.strictObject({
              field: text('The field that differs.'),
              stored: text('The stored value.'),
              again: text('The value computed now.'),
            }),
          )
          .describe('The fields that differ.'),
      })
      .describe('Whether the governor gives the same answer again for the stored input.'),
  ),
  { id: 'Rederived' },
)

export const takers = noted(
  outputOf<Takers>()(
    z
      .strictObject({
        live: count('How many workers are alive.'),
        able: count('How many of them can execute it.'),
        needs: text('What a worker must have to execute it.'),
        sentence: text('The same in words.'),
      })
      .describe('The workers that could execute it.'),
  ),
  { id: 'Takers' },
)
