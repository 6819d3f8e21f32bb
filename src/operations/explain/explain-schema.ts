import { z } from 'zod'
import { advice, count, instantOutput, outputOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'
import type { AppliedRule, Candidate } from './candidates.ts'
import { trailRule } from './decision-schema.ts'
import type { Takers } from './fleet.ts'
import type { Rederived } from './rederive.ts'
import type { Unblock } from './unblock.ts'

export const unblock = noted(
  outputOf<Unblock>()(
    z
      .strictObject({
        what: advice('What it is.'),
        command: advice('What a person types for it, where a command does it.').nullable(),
        at: instantOutput('When it comes by itself, where that is known.').nullable(),
      })
      .describe('Something that would let it go on.'),
  ),
  { id: 'Unblock' },
)

const wishers = ['baseline', 'interval-hint', 'oneshot-hint'] as const

export const candidate = noted(
  outputOf<Candidate>()(
    z
      .strictObject({
        by: z.enum(wishers).describe('Whose wish it is: that of its own timing, or of a hint.'),
        wishedAt: instantOutput('The instant that is wished for.').nullable(),
        at: instantOutput('The instant it competed with; what is over by then is due at once.').nullable(),
        effect: z.enum(['won', 'lost', 'ignored']).describe('What became of it.'),
        why: text('Why, in words.'),
        hint: z
          .strictObject({
            author: text('Who gave it.'),
            reason: text('Why it was given.'),
            expiresAt: instantOutput('Until when it counts.'),
          })
          .nullable()
          .describe('The hint, where it is one and is still kept.'),
      })
      .describe('A wish for an instant.'),
  ),
  { id: 'Candidate' },
)

export const appliedRule = noted(
  outputOf<AppliedRule>()(
    z
      .strictObject({
        rule: trailRule,
        effect: z.enum(['won', 'lost', 'ignored', 'moved', 'stopped']).describe('What it did.'),
        from: instantOutput('The instant it found.').nullable(),
        at: instantOutput('The instant it left behind.').nullable(),
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
          .describe('Whether the same comes out, or why that cannot be said.'),
        sentence: text('The same in words.'),
        differs: z
          .array(
            z.strictObject({
              field: text('What came out otherwise.'),
              stored: text('As it is stored.'),
              again: text('As it comes out now.'),
            }),
          )
          .describe('What came out otherwise.'),
      })
      .describe('Whether the governor, asked again with what was stored, answers the same.'),
  ),
  { id: 'Rederived' },
)

export const takers = noted(
  outputOf<Takers>()(
    z
      .strictObject({
        live: count('How many workers are alive.'),
        able: count('How many of them can execute it.'),
        needs: text('What a worker must have.'),
        sentence: text('The same in words.'),
      })
      .describe('Who could execute it.'),
  ),
  { id: 'Takers' },
)
