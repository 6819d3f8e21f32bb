import { z } from 'zod'
import { durationMsMax } from '../../core/duration.ts'
import type { Author } from '../../core/schedule/hint-author.ts'
import { everyMsMin } from '../../core/schedule/schedule-fields.ts'
import type { NewHint } from '../../store/port.ts'
import { reason, scheduleName } from '../fields/basic-fields.ts'
import { durationFields, durationOf, inUnits } from '../input/duration-input.ts'
import { instant, isoText, over } from '../input/instant.ts'
import type { Reading } from '../input/read-input.ts'
import { type Problem, refuse } from '../input/refuse-input.ts'

export const hintInput = z.strictObject({
  name: scheduleName,
  ...durationFields('every', 'The suggested time between two runs.'),
  at: instant.describe('The suggested instant of a single run.').optional(),
  ...durationFields('ttl', 'How long the hint is in force. Default: 1h for every, 30m for at.'),
  expiresAt: instant.describe('When the hint expires, instead of ttl.').optional(),
  reason: reason.describe('The reason, for readers of the schedule.'),
})

/** A hint for a schedule: an interval for a while, or a single run at an instant. */
export type HintInput = Omit<z.input<typeof hintInput>, 'name'>

const ttlMsDefault = { interval: 3_600_000, oneshot: 1_800_000 }

/** Reads a hint. It is in force for its `ttl` from now, or until `expiresAt`. */
export function readHint(
  { given, value, problems: found }: Reading<z.output<typeof hintInput>>,
  { now, author }: { readonly now: number; readonly author: Author },
): NewHint {
  const problems = [...found]
  const everyMs = durationOf(value, 'every', problems)
  const ttlMs = durationOf(value, 'ttl', problems)
  const { at, expiresAt } = value
  noteRivals(everyMs, at, problems)
  if (everyMs !== undefined && (everyMs < everyMsMin || everyMs > durationMsMax)) {
    problems.push(beyond(value.every === undefined ? 'everyMs' : 'every', everyMs))
  }
  if (given.expiresAt !== undefined && (given.ttl !== undefined || given.ttlMs !== undefined)) {
    problems.push({ field: 'ttl', problem: 'is given beside `expiresAt`', expected: 'only one of the two' })
  }
  const kind = at === undefined ? 'interval' : 'oneshot'
  const endsAt = expiresAt ?? now + (ttlMs ?? ttlMsDefault[kind])
  if (expiresAt !== undefined && expiresAt <= now) problems.push(over('expiresAt', expiresAt, now))
  if (at !== undefined && at >= endsAt && problems.length === 0) {
    problems.push({
      field: 'at',
      problem: `is ${isoText(at)}, and the hint expires at ${isoText(endsAt)}`,
      expected: 'an instant before it expires, or a longer `ttl`',
    })
  }
  refuse('The hint', problems)
  // The time to live begins when the hint is written; otherwise a TTL of one minute would last less
  // than a minute.
  const ttl = expiresAt === undefined ? { ttlMs: ttlMs ?? ttlMsDefault[kind] } : { expiresAt }
  const rest = { ...ttl, reason: value.reason as string, author: author.name, by: author.kind }
  return at === undefined ? { kind: 'interval', ms: everyMs as number, ...rest } : { kind: 'oneshot', at, ...rest }
}

function beyond(field: 'every' | 'everyMs', everyMs: number): Problem {
  const problem = { field, problem: `is ${everyMs}`, expected: `an integer from ${everyMsMin} to ${durationMsMax}` }
  return field === 'everyMs'
    ? problem
    : { field, problem: inUnits(problem.problem), expected: inUnits(problem.expected) }
}

function noteRivals(everyMs: number | undefined, at: number | undefined, problems: Problem[]): void {
  if (
    (everyMs === undefined) !== (at === undefined) ||
    problems.some(({ field }) => /^(every|everyMs|at)$/.test(field))
  )
    return
  const problem = at === undefined ? 'has neither `every` nor `at`' : 'has both `every` and `at`'
  problems.push({ field: 'hint', problem, expected: '`every` for a while, or `at` for once' })
}
