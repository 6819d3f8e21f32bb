import { type ScheduleCheck, scheduleProblems } from '../../core/schedule/schedule-spec.ts'
import { noteSizes } from '../fields/payload-size.ts'
import { asWritten } from '../input/as-written.ts'
import type { Problem } from '../input/refuse-input.ts'
import { isClash, type ReadSchedule } from './read-schedule.ts'
import { givenFields } from './schedule-input.ts'

/** Every problem of a schedule, rules between fields included, in the caller's words. */
export function problemsOf({ given, spec, problems, added }: ReadSchedule, check: ScheduleCheck): Problem[] {
  const told = problems.map((problem) => asWritten(problem, given, givenFields))
  const more = scheduleProblems(spec, { ...check, added }).map((problem) => {
    return asWritten({ ...problem, field: problem.field.replace(/^timing\./, '') }, given, givenFields)
  })
  const found = [...told, ...notFollowing(more, told)]
  noteSizes(spec, found, ['payload', 'target', 'options'])
  return found
}

const timings = ['cron', 'every', 'at']

/** Leaves out problems that only follow from others: a field that could not be read is missing in the spec. */
function notFollowing(more: readonly Problem[], told: readonly Problem[]): Problem[] {
  const wrong = new Set(told.filter((each) => !isClash(each)).map(({ field }) => baseOf(field)))
  const isWrong = (name: string) => wrong.has(baseOf(name))
  return more.filter(({ field, problem, expected }) => {
    if (isWrong(field) || (field === 'timing' && (timings.some(isWrong) || told.some(isClash)))) return false
    return ![...`${problem} ${expected}`.matchAll(/`(\w+)`/g)].some(([, name = '']) => isWrong(name))
  })
}

/** The input field that a problem is about, under either name of a duration. */
function baseOf(field: string): string {
  return (/^[^.[]*/.exec(field)?.[0] ?? field).replace(/Ms$/, '')
}
