import { type ScheduleCheck, scheduleProblems } from '../../core/schedule.ts'
import { inUnits } from '../duration-input.ts'
import type { Problem } from '../problem.ts'
import type { ReadSchedule } from './read.ts'

/** What the stored spec calls otherwise than the input does. */
const durations: ReadonlyMap<string, string> = new Map([
  ['everyMs', 'every'],
  ['minMs', 'min'],
  ['maxMs', 'max'],
  ['maxLatenessMs', 'maxLateness'],
  ['timeoutMs', 'timeout'],
])

/** Where one of these is wrong, what the others say about it would be wrong too, and help nobody. */
const grounds: ReadonlySet<string> = new Set(['cron', 'zone', 'every', 'everyMs', 'at', 'overlap', 'missed'])

/** Everything that is wrong with a schedule, its rules between fields included, in the words it was written in. */
export function problemsOf({ given, spec, problems }: ReadSchedule, check: ScheduleCheck): Problem[] {
  const told = problems.map((problem) => inWords(problem, given))
  const fields = new Set(told.map(({ field }) => rootOf(field)))
  if ([...fields].some((field) => grounds.has(field))) return told
  const more = scheduleProblems(spec, check).map((problem) => inWords(problem, given))
  return [...told, ...more.filter(({ field }) => !fields.has(rootOf(field)))]
}

/** A problem in the words of whoever wrote the input: `timing.everyMs is 500` of an `every: '500ms'`. */
export function inWords({ field, problem, expected }: Problem, given: Readonly<Record<string, unknown>>): Problem {
  const own = field.replace(/^(timing|notify)\./, '')
  const base = durations.get(own)
  const isText = base !== undefined && !isInMs(base, given)
  const told = (text: string) => {
    const named = text.replace(/\b(every|min|max|maxLateness|timeout)Ms\b/g, (name) => written(name, given))
    return isText ? inUnits(named) : named
  }
  return { field: base === undefined ? own : written(own, given), problem: told(problem), expected: told(expected) }
}

function written(name: string, given: Readonly<Record<string, unknown>>): string {
  const base = durations.get(name) ?? name
  const isBoth = given[base] !== undefined && given[name] !== undefined
  return isBoth || isInMs(base, given) ? name : base
}

function isInMs(base: string, given: Readonly<Record<string, unknown>>): boolean {
  return given[base] === undefined && given[`${base}Ms`] !== undefined
}

function rootOf(field: string): string {
  return /^[^.[]*/.exec(field)?.[0] ?? field
}
