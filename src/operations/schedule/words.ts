import { type ScheduleCheck, scheduleProblems } from '../../core/schedule.ts'
import { inUnits } from '../duration-input.ts'
import type { Problem } from '../problem.ts'
import { noteSizes } from '../sizes.ts'
import { isClash, type ReadSchedule } from './read.ts'

/** What the stored spec calls otherwise than the input does. */
const durations: ReadonlyMap<string, string> = new Map([
  ['everyMs', 'every'],
  ['minMs', 'min'],
  ['maxMs', 'max'],
  ['maxLatenessMs', 'maxLateness'],
  ['timeoutMs', 'timeout'],
])

/** Everything that is wrong with a schedule, its rules between fields included, in the words it was written in. */
export function problemsOf({ given, spec, problems }: ReadSchedule, check: ScheduleCheck): Problem[] {
  const told = problems.map((problem) => inWords(problem, given))
  const more = scheduleProblems(spec, check).map((problem) => inWords(problem, given))
  const found = [...told, ...notFollowing(more, told)]
  noteSizes(spec, found)
  return found
}

const timings = ['cron', 'every', 'at']

/** What does not merely follow from what is told already: a field that could not be read is missing in the spec. */
function notFollowing(more: readonly Problem[], told: readonly Problem[]): Problem[] {
  const wrong = new Set(told.filter((each) => !isClash(each)).map(({ field }) => baseOf(rootOf(field))))
  const isWrong = (name: string | undefined) => name !== undefined && wrong.has(baseOf(name))
  return more.filter(({ field, problem, expected }) => {
    if (isWrong(rootOf(field)) || (field === 'timing' && (timings.some(isWrong) || told.some(isClash)))) return false
    return ![...`${problem} ${expected}`.matchAll(/`(\w+)`/g)].some(([, name]) => isWrong(name))
  })
}

function baseOf(name: string): string {
  return durations.get(name) ?? name
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
