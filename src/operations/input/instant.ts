import { z } from 'zod'
import { noted } from '../schema/schema-note.ts'
import { isShown, type Problem } from './refuse-input.ts'

const example = '2026-12-01T09:00Z or 2026-12-01T09:00+01:00'
const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d+))?)?(Z|[+-]\d{2}:\d{2})?$/

const instantWritten = noted(z.string().meta({ examples: ['2026-12-01T09:00+01:00'] }), {
  expected: `an instant with its offset, such as ${example}`,
})

/** An instant as callers write it: ISO text with an offset, or a `Date`; epoch ms inside. */
export const instant = z.preprocess(
  (given) => (given instanceof Date && !Number.isNaN(given.getTime()) ? given.toISOString() : given),
  instantWritten.transform((text, context) => {
    const answer = instantOf(text)
    if ('at' in answer) return answer.at
    context.issues.push({ code: 'custom', input: text, params: answer })
    return z.NEVER
  }),
) as unknown as z.ZodType<number, string | Date>

export type ReadInstant = { readonly at: number } | { readonly problem: string; readonly expected: string }

/**
 * Reads an ISO text to the ms. `Date.parse` would read 30 February as a day in March, and a text without an offset as local
 * time of this machine.
 */
export function instantOf(text: string): ReadInstant {
  const found = pattern.exec(text)
  if (found === null) return { problem: isShown(text), expected: `an instant with its offset, such as ${example}` }
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '00', fraction = '', offset] = found
  if (offset === undefined) {
    return { problem: `${isShown(text)}, which has no offset`, expected: `Z or an offset after it, such as ${text}Z` }
  }
  if (/[^0]/.test(fraction.slice(3))) return { problem: `${isShown(text)}, finer than a ms`, expected: 'whole ms' }
  const ms = fraction.slice(0, 3).padEnd(3, '0')
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`
  const localAt = Date.parse(local)
  if (Number.isNaN(localAt) || new Date(localAt).toISOString() !== local) {
    return {
      problem: `${isShown(text)}, a date that does not exist`,
      expected: `an existing date, such as ${example}`,
    }
  }
  const offsetMs = offsetMsOf(offset)
  if (offsetMs === null)
    return { problem: `${isShown(text)}, with an offset that no time zone has`, expected: 'at most 14 hours' }
  const at = localAt - offsetMs
  return at < 0 ? { problem: `${isShown(text)}, which is before 1970`, expected: 'an instant since 1970' } : { at }
}

const offsetMinutesMax = 14 * 60

function offsetMsOf(offset: string): number | null {
  if (offset === 'Z') return 0
  const [hours = 0, minutes = 0] = offset.slice(1).split(':').map(Number)
  const total = hours * 60 + minutes
  if (minutes > 59 || total > offsetMinutesMax) return null
  return (offset.startsWith('-') ? -total : total) * 60_000
}

/** The problem of an instant that is in the past. */
export function over(field: string, at: number, now: number): Problem {
  return { field, problem: `is ${isoText(at)}, which is in the past`, expected: `after ${isoText(now)}` }
}

export function isoText(at: number): string {
  return new Date(at).toISOString()
}
