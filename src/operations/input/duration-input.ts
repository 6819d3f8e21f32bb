import { z } from 'zod'
import { DurationError, durationMsMax, formatDuration, parseDuration } from '../../core/duration.ts'
import { noted } from '../schema/schema-note.ts'
import type { Problem } from './refuse-input.ts'

/** A bare number is refused: it could mean seconds or ms. */
const durationWritten = noted(z.string().meta({ examples: ['30s', '1h30m'] }), {
  expected: 'a duration with its unit, such as 30s, 10m, 1h30m or 2d',
})

/** A duration as people write it. */
export const durationText = durationWritten.transform((text, context) => {
  try {
    return parseDuration(text)
  } catch (error) {
    if (!(error instanceof DurationError)) throw error
    const { problem, suggestion: expected } = error
    context.issues.push({ code: 'custom', input: text, params: { problem, expected } })
    return z.NEVER
  }
})

export const wholeMs = noted(z.int(), { expected: 'a whole number of ms' })

type DurationShape<Name extends string> = Record<Name, z.ZodOptional<typeof durationText>> &
  Record<`${Name}Ms`, z.ZodOptional<typeof wholeMs>>

/** The two fields for one duration: `timeout: '30s'` or `timeoutMs: 30_000`. */
export function durationFields<Name extends string>(name: Name, says: string): DurationShape<Name> {
  return {
    [name]: durationText.describe(says).optional(),
    [`${name}Ms`]: wholeMs.describe(`The same as ${name}, in ms.`).optional(),
  } as DurationShape<Name>
}

/** The duration from either field. Giving both is refused, even when they agree. */
export function durationOf<Value extends number | null = number>(
  fields: object,
  name: string,
  problems: Problem[],
  prefix = '',
): Value | undefined {
  const given = fields as Readonly<Record<string, unknown>>
  const [text, ms] = [given[name], given[`${name}Ms`]] as (Value | undefined)[]
  if (text !== undefined && ms !== undefined) problems.push(givenTwice(prefix + name, name))
  return text === undefined ? ms : text
}

export function givenTwice(field: string, name: string): Problem {
  return { field, problem: `is given beside \`${name}Ms\``, expected: 'only one of the two' }
}

/** Rewords a problem about whole ms for a caller that wrote a duration with its unit. */
export function inUnits(clause: string): string {
  const ofDurations = clause.replace(/\ban integer\b/, 'a duration')
  return ofDurations.replace(/(?<![\w.-])\d+(?![\w.])/g, (digits) => {
    return Number(digits) > durationMsMax ? `${digits}ms` : formatDuration(Number(digits))
  })
}
