import { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import { type Rule, type RuleThen, readRules, unfitOnce } from '../../core/rule-form.ts'
import type { Target } from '../../core/target.ts'
import type { AddedField } from '../../operations/fields/added-fields.ts'
import { noted } from '../../operations/schema/schema-note.ts'

/** A rule as a caller gives it, with durations that have units. */
export interface RuleInput {
  readonly name: string
  readonly when: Readonly<Record<string, unknown>>
  readonly runs?: number | undefined
  readonly sibling?: string | undefined
  readonly then: Omit<RuleThen, 'at'> & {
    readonly at?: unknown
    readonly every?: string | undefined
    readonly pause?: string | undefined
    readonly ttl?: string | undefined
  }
}

declare module '../../core/added.ts' {
  interface AddedToSchedule {
    readonly rules: AddedType<readonly Rule[], readonly RuleInput[]>
  }
}

const expected = `a list of rules, such as [{"name":"surge","when":{"queue_depth":{"above":200}},"then":{"every":"30s","ttl":"15m"}}]`

/** Kept short, because models read it with every verb that writes a schedule: docs/rules.md has the whole form. */
const form = z.array(z.unknown())
/** Rules as callers give them; `readRules` validates them. */
export const givenRules = noted(
  z.unknown().refine((value) => value !== null),
  { form, expected },
)

/** How a schedule reacts to its answers without a model. */
export const rules: AddedField = {
  input: givenRules.describe('Rules on its answers; see docs/rules.md.'),
  output: z.array(z.record(z.string(), z.unknown())),
  ofPersons: 'always',
  read(value, { field, problems }) {
    const read = readRules(value, field, problems)
    // An empty list means no rules, as null does: otherwise a change that removes them would change nothing.
    return read.length === 0 ? null : read
  },
  unfit(stored: readonly Rule[], { target, timing }) {
    if (target == null) {
      return { problem: 'are given, and the schedule has no target that answers', expected: 'a target' }
    }
    const [index] = timing?.at === undefined ? [] : unfitOnce(stored)
    if (index === undefined) return null
    const problem = 'has no effect, because the schedule runs only once'
    return {
      at: `[${index}] (${stored[index]?.name}).then.every`,
      problem,
      expected: 'at, pause or clear; or `every` of the schedule',
    }
  },
  inWords: (stored: readonly Rule[]) => stored.map(({ name, then }) => `${name} (${thenInWords(then)})`).join(', '),
  clause: 'adapts by its rules',
}

/** The effect of a rule in words. */
export function thenInWords({ everyMs, at, pauseMs, ttlMs }: RuleThen): string {
  const ttl = ttlMs === undefined ? '' : ` for ${formatDuration(ttlMs)}`
  if (everyMs !== undefined) return `every ${formatDuration(everyMs)}${ttl}`
  if (pauseMs !== undefined) return `pause ${formatDuration(pauseMs)}`
  if (at === undefined) return 'clear'
  return typeof at === 'string' ? `once ${at}` : `once at ${at.field}`
}

/** The answer of a run for rules and planners: the body of an endpoint's response, or the result of other work. */
export function bodyOf(target: Target | null | undefined, result: unknown): unknown {
  if (target == null || target.http === undefined) return result
  return (result as { readonly body?: unknown } | undefined)?.body
}
