import { z } from 'zod'
import type { NewHint } from '../store/port.ts'
import { durationFields, durationOf } from './duration-input.ts'
import { read } from './input.ts'
import { instant, over } from './instant.ts'
import { type Problem, refuse } from './problem.ts'
import { name, reason } from './schedule-input.ts'

export const hintInput = z.strictObject({
  ...durationFields('every'),
  at: instant.optional(),
  ...durationFields('ttl'),
  expiresAt: instant.optional(),
  reason,
  author: name.optional(),
})

/** A suggestion for a schedule: `every` for a while, or once `at` an instant. */
export type HintInput = z.input<typeof hintInput>

const ttlMsDefault = { interval: 3_600_000, oneshot: 1_800_000 }

/** Reads a hint. It lives for its `ttl` from now, or until `expiresAt`. */
export function readHint(input: unknown, { now, author }: { readonly now: number; readonly author: string }): NewHint {
  const { value, problems: found } = read(hintInput, input, 'a hint')
  const problems = [...found]
  const everyMs = durationOf(value, 'every', problems)
  const ttlMs = durationOf(value, 'ttl', problems)
  const { at, expiresAt } = value
  noteRivals(everyMs, at, problems)
  if (ttlMs !== undefined && expiresAt !== undefined) {
    problems.push({ field: 'ttl', problem: 'is given beside expiresAt', expected: 'only one of the two' })
  }
  const kind = at === undefined ? 'interval' : 'oneshot'
  const endsAt = expiresAt ?? now + (ttlMs ?? ttlMsDefault[kind])
  if (expiresAt !== undefined && expiresAt <= now) problems.push(over('expiresAt', expiresAt, now))
  if (at !== undefined && at >= endsAt && problems.length === 0) {
    problems.push({
      field: 'at',
      problem: 'is not before the hint expires',
      expected: 'a longer ttl, or an earlier at',
    })
  }
  refuse('The hint', problems)
  const rest = { expiresAt: endsAt, reason: value.reason as string, author: value.author ?? author }
  return at === undefined ? { kind: 'interval', ms: everyMs as number, ...rest } : { kind: 'oneshot', at, ...rest }
}

function noteRivals(everyMs: number | undefined, at: number | undefined, problems: Problem[]): void {
  if (
    (everyMs === undefined) !== (at === undefined) ||
    problems.some(({ field }) => /^(every|everyMs|at)$/.test(field))
  )
    return
  const problem = at === undefined ? 'says neither every nor at' : 'says both every and at'
  problems.push({ field: 'hint', problem, expected: 'every for a while, or at for once' })
}
