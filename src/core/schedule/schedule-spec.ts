import type { AddedToSchedule, StoredFields } from '../added.ts'
import type { TaskFacts } from '../agent/task.ts'
import { cron } from '../cron/cron.ts'
import { CronError } from '../cron/cron-error.ts'
import { resolveZone } from '../cron/zone-name.ts'
import { durationMsMax } from '../duration.ts'
import {
  choice,
  type Field,
  type Fields,
  fieldProblems,
  flag,
  group,
  integer,
  nameLengthMax,
  plain,
  real,
  record,
  required,
  type StoredOf,
  text,
} from '../field-table.ts'
import { parseId } from '../id.ts'
import { isRecord } from '../json/record.ts'
import { windowProblems as openMinutesProblems } from '../opening/open-minutes.ts'
import { isShown, type Problem } from '../problem.ts'
import { systemPrefixes } from '../system-schedule.ts'
import type { SpreadConfig } from '../timing/spread.ts'
import type { Timing } from '../timing/timing.ts'
import { overlapProblems } from './overlap.ts'
import { scheduleFields, timingFields } from './schedule-fields.ts'

/** A schedule as stored: durations in ms, instants in epoch ms, the zone resolved, all defaults filled in. */
export interface ScheduleSpec extends StoredOf<typeof scheduleFields>, StoredFields<AddedToSchedule> {
  readonly name: string
  readonly timing: Timing
  /** The zone of its window, where its timing has none. */
  readonly zone?: string | undefined
  /** For prompt tasks: a missed one-shot does not fire, and waits for a person's decision. */
  readonly asksWhenMissed?: boolean | undefined
  /** The fields that make the schedule a task; only the verbs of tasks write them. */
  readonly task?: TaskFacts | undefined
  /** The spread of its occurrences; `settings`: by the settings in force when an occurrence is planned. */
  readonly spread?: SpreadConfig | 'settings' | undefined
  readonly onExhausted?: 'park' | 'fail' | undefined
  /** Further options of the execution: expectation, timeout, tags. They are stored as given and copied to each run. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

export interface ScheduleCheck {
  readonly now: number
  /** The spec that is edited. Its instants that have passed by now were valid when it was written. */
  readonly before?: ScheduleSpec | undefined
  /** The names of the fields that parts add and validate themselves. */
  readonly added?: readonly string[] | undefined
}

const plainName = required(text('name', nameLengthMax, { says: 'The name of the schedule.' }))
const share = { says: 'How far it moves.' }
const spreadFields = {
  recurringFraction: required(real(0, 1, share)),
  recurringCapMs: required(integer(0, durationMsMax, share)),
  oneShotMaxMs: required(integer(0, durationMsMax, share)),
  oneShotMinuteModulo: required(integer(1, 60, share)),
} satisfies Record<keyof SpreadConfig, Field>

const spreadGroup = group(spreadFields, { says: 'How far it moves.' })

/** All stored fields. Those that no input can set are only here. */
const specFields = {
  name: {
    ...plainName,
    // A schedule named like the id of another would be mistaken for it: deleted ones are known by their ids alone.
    expected: `${plainName.expected}, not in the form of an id, such as s-15, and not beginning with belfry: or corpus:, which are reserved`,
    problem: (value) =>
      plainName.problem(value) ??
      (parseId('schedule', value) === null ? null : 'has the form of an id') ??
      systemPrefixes.filter((prefix) => String(value).startsWith(prefix)).map((prefix) => `begins with ${prefix}`)[0] ??
      null,
  },
  timing: required(group(timingFields, { says: 'When it runs.' })),
  ...scheduleFields,
  zone: plain({ says: 'The zone of its window.' }),
  asksWhenMissed: flag({ says: 'Whether a person is asked about a missed one-shot.' }),
  spread: {
    ...spreadGroup,
    expected: `${spreadGroup.expected}, or settings`,
    problem: (value) => (value === 'settings' ? null : spreadGroup.problem(value)),
  },
  task: record({ says: 'What makes it a task.' }),
  onExhausted: choice(['park', 'fail'], { says: 'What happens to a run that has used all its attempts.' }),
  options: record({ says: 'What the executor needs.' }),
} satisfies Fields

/**
 * All problems of a schedule, so that a door can refuse it whole. Empty: valid.
 *
 * Rules between fields are checked over the fields that are valid by themselves; a problem that only follows from a reported one
 * is not reported.
 */
export function scheduleProblems(spec: unknown, check: ScheduleCheck): Problem[] {
  if (!isRecord(spec)) return [{ field: 'schedule', problem: isShown(spec), expected: 'an object' }]
  // Fields of a part that no longer exists are kept; a caller that changes something else is not blamed for them.
  const others = [...(check.added ?? []), ...Object.keys(check.before ?? {})]
  const ofFields = fieldProblems(specFields, spec, { noun: 'a schedule', others })
  const sound = soundPart(spec, ofFields)
  const told = [...ofFields, ...notFollowing(timingProblems(sound, check), ofFields)]
  const timed = soundPart(sound as unknown as Record<string, unknown>, told)
  const between = [
    ...boundProblems(timed, check),
    ...windowProblems(timed, check),
    ...hintWindowProblems(timed, check),
    ...overlapProblems(timed),
  ]
  return [...told, ...notFollowing(between, told)]
}

/** The schedule without its invalid fields. A cron needs its zone, and neither is checked without the other. */
function soundPart(spec: Readonly<Record<string, unknown>>, problems: readonly Problem[]): ScheduleSpec {
  if (problems.length === 0) return spec as unknown as ScheduleSpec
  const wrong = new Set(problems.map(({ field }) => field))
  const isSound = (prefix: string) => (entry: [string, unknown]) => !wrong.has(prefix + entry[0])
  const isUntimed = ['timing', 'timing.cron', 'timing.zone'].some((field) => wrong.has(field))
  const timing = isUntimed || !isRecord(spec.timing) ? {} : spec.timing
  const fields = Object.entries(spec).filter(isSound(''))
  const sound = {
    ...Object.fromEntries(fields),
    timing: Object.fromEntries(Object.entries(timing).filter(isSound('timing.'))),
  }
  return sound as unknown as ScheduleSpec
}

/** The problems in fields that are not reported yet: a reported one may be the only cause. */
function notFollowing(found: readonly Problem[], told: readonly Problem[]): Problem[] {
  const names = new Set(told.map(({ field }) => field.replace(/^timing\./, '')))
  const isTold = (name: string | undefined) => name !== undefined && names.has(name)
  return found.filter(({ field, problem, expected }) => {
    if (isTold(field.replace(/^timing\./, ''))) return false
    return ![...`${problem} ${expected}`.matchAll(/`(\w+)`/g)].some(([, name]) => isTold(name))
  })
}

function timingProblems({ timing, startNow, asksWhenMissed }: ScheduleSpec, check: ScheduleCheck): Problem[] {
  const given = timing as Readonly<Record<string, unknown>>
  const kinds = (['cron', 'everyMs', 'at'] as const).filter((kind) => given[kind] !== undefined)
  const problems: Problem[] = []
  if (kinds.length > 1) {
    const expected = 'exactly one of `cron`, `everyMs` and `at`, or none of them'
    problems.push({ field: 'timing', problem: `has ${kinds.join(' and ')}`, expected })
  }
  const strayed = (field: string, owner: string) => {
    problems.push({
      field,
      problem: `means nothing without \`${owner}\``,
      expected: `\`${owner}\` too, or leave it out`,
    })
  }
  if (given.zone !== undefined && !kinds.includes('cron')) strayed('timing.zone', 'cron')
  if (given.from !== undefined && !kinds.includes('everyMs')) strayed('timing.from', 'everyMs')
  if (startNow === true && !kinds.includes('everyMs')) strayed('startNow', 'everyMs')
  if (asksWhenMissed === true && !kinds.includes('at')) strayed('asksWhenMissed', 'at')
  if (timing.cron !== undefined) problems.push(...cronProblems(given))
  if (timing.at !== undefined && timing.at < check.now && check.before?.timing.at !== timing.at) {
    problems.push({
      field: 'timing.at',
      problem: `is ${isoText(timing.at)}, which is in the past`,
      expected: `${isoText(check.now)} or later`,
    })
  }
  return problems
}

/** The expression and the zone are checked separately, so that both are reported. */
function cronProblems({ cron: expression, zone }: Readonly<Record<string, unknown>>): Problem[] {
  const ofZone = zoneProblems(zone)
  if (typeof expression !== 'string') {
    return [{ field: 'timing.cron', problem: isShown(expression), expected: 'a cron expression' }, ...ofZone]
  }
  try {
    if (!cron(expression, ofZone.length === 0 ? (zone as string) : 'UTC').isNever) return ofZone
    const expected = 'a day that exists in its month in some year'
    const problem = `is ${JSON.stringify(expression)}, which never happens`
    return [{ field: 'timing.cron', problem, expected }, ...ofZone]
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const { field, position, reason, expected } = error
    const where = field === 'expression' ? '' : ` in its ${field} field`
    const problem = `is wrong${where}, at character ${position + 1}: ${reason}`
    return [{ field: 'timing.cron', problem, expected }, ...ofZone]
  }
}

function zoneProblems(zone: unknown): Problem[] {
  const field = 'timing.zone'
  if (typeof zone !== 'string') {
    const problem = zone === undefined ? 'is missing' : isShown(zone)
    return [{ field, problem, expected: 'the name of an IANA zone, such as Europe/Paris' }]
  }
  try {
    resolveZone(zone)
    return []
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    return [{ field, problem: `${isShown(zone)}: ${error.reason}`, expected: error.expected }]
  }
}

function boundProblems({ timing, minMs, maxMs }: ScheduleSpec, { now }: ScheduleCheck): Problem[] {
  const problems: Problem[] = []
  if (timing.at !== undefined) {
    for (const [field, bound] of Object.entries({ minMs, maxMs })) {
      if (bound === undefined) continue
      problems.push({
        field,
        problem: 'bounds the time between runs, and an `at` has only one run',
        expected: 'leave it out',
      })
    }
    return problems
  }
  if (minMs !== undefined && maxMs !== undefined && minMs > maxMs) {
    problems.push({ field: 'minMs', problem: `is ${minMs}`, expected: `at most \`maxMs\`, which is ${maxMs}` })
  }
  if (timing.cron === undefined || maxMs === undefined) return problems
  const gapMs = cron(timing.cron, timing.zone).longestGapMs(now)
  if (gapMs !== null && maxMs < gapMs) {
    problems.push({
      field: 'maxMs',
      problem: `is ${maxMs}, shorter than the longest gap of the cron, so that runs would leave its calendar`,
      expected: `at least ${gapMs}`,
    })
  }
  return problems
}

function windowProblems({ timing, startAt, endAt }: ScheduleSpec, { now, before }: ScheduleCheck): Problem[] {
  const problem = (field: string, is: string, expected: string) => [{ field, problem: is, expected }]
  if (startAt !== undefined && endAt !== undefined && startAt >= endAt) {
    return problem('endAt', `is ${isoText(endAt)}`, `after \`startAt\`, which is ${isoText(startAt)}`)
  }
  if (timing.at !== undefined) {
    if (startAt !== undefined && timing.at < startAt)
      return problem('startAt', 'is after `at`', 'an earlier one, or leave it out')
    if (endAt !== undefined && timing.at > endAt)
      return problem('endAt', 'is before `at`', 'a later one, or leave it out')
  }
  if (endAt === undefined || endAt === before?.endAt) return []
  if (endAt < now) return problem('endAt', `is ${isoText(endAt)}, which is in the past`, `after ${isoText(now)}`)
  if (timing.cron === undefined) return []
  const firstAt = cron(timing.cron, timing.zone).next(Math.max(now, (startAt ?? now) - 1))
  if (firstAt !== null && firstAt <= endAt) return []
  return problem('endAt', `is ${isoText(endAt)}, before the first instant of the cron`, 'a later one, or leave it out')
}

/** A stored window was valid when it was written. */
function hintWindowProblems({ timing, zone = 'UTC', window }: ScheduleSpec, { now, before }: ScheduleCheck): Problem[] {
  if (window === undefined) return []
  if (timing.at !== undefined) {
    return [{ field: 'window', problem: 'bounds hints, and an `at` runs only once', expected: 'leave it out' }]
  }
  if (typeof window !== 'string') return [{ field: 'window', problem: isShown(window), expected: 'a cron expression' }]
  if (before?.window === window) return []
  const ofZone = timing.cron === undefined ? zoneProblems(zone) : []
  return ofZone.length > 0
    ? ofZone
    : openMinutesProblems(window, { zone: timing.cron === undefined ? zone : timing.zone, now })
}

function isoText(ms: number): string {
  return new Date(ms).toISOString()
}
