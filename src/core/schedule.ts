import { cron } from './cron/cron.ts'
import { CronError } from './cron/cron-error.ts'
import { resolveZone } from './cron/zone-name.ts'
import { durationMsMax } from './duration.ts'
import { parseId } from './id.ts'
import { jsonProblem, plainData } from './json.ts'
import { type Notify, notifyProblems } from './notice.ts'
import { overlapProblems } from './overlap.ts'
import type { SpreadConfig } from './spread.ts'
import { needOf, type Target } from './target.ts'
import type { Timing } from './timing.ts'

/** A schedule as it is stored: durations in ms, instants in epoch ms, the zone resolved, nothing left to default later. */
export interface ScheduleSpec {
  readonly name: string
  readonly timing: Timing
  readonly startNow?: boolean | undefined
  readonly startAt?: number | undefined
  readonly endAt?: number | undefined
  readonly maxRuns?: number | undefined
  readonly minMs?: number | undefined
  readonly maxMs?: number | undefined
  readonly overlap?: 'skip' | 'queue' | 'allow' | 'cancel' | undefined
  readonly queueMax?: number | undefined
  readonly missed?: 'skip' | 'once' | 'all' | undefined
  /** A missed one-shot is put before a person instead of being fired: what prompt tasks want. */
  readonly asksWhenMissed?: boolean | undefined
  readonly maxLatenessMs?: number | undefined
  readonly pauseAfterFailures?: number | undefined
  readonly spread?: SpreadConfig | undefined
  readonly queue?: string | undefined
  readonly priority?: number | undefined
  readonly concurrencyKey?: string | undefined
  readonly payload?: unknown
  readonly target?: Target | null | undefined
  readonly repeatable?: boolean | undefined
  readonly onExhausted?: 'park' | 'fail' | undefined
  /** Where somebody wants to be told when something fails. */
  readonly notify?: Notify | undefined
  /** What the executor needs besides: expectation, timeout, tags. Kept as given, and copied to each run. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  readonly description?: string | undefined
}

export interface ScheduleProblem {
  readonly field: string
  readonly problem: string
  readonly expected: string
}

export interface ScheduleCheck {
  readonly now: number
  /** The spec that is edited. What it says about instants that are over by now was right when it was written. */
  readonly before?: ScheduleSpec | undefined
}

/** Shorter periods are a busy loop through the store, and no longer a schedule. */
export const everyMsMin = 1_000

const countMax = 1_000_000_000
const instantMax = 8.64e15
const nameLengthMax = 200
const keyLengthMax = 500
const descriptionLengthMax = 10_000
const priorityMax = 1_000_000
export const priorityDefault = 100

interface Rule {
  /** What would be right. */
  readonly expected: string
  /** What is wrong, as a clause after the field's name; `null` when nothing is. */
  problem(value: unknown): string | null
  readonly required?: boolean
}

const integer = (min: number, max: number): Rule => ({
  expected: `an integer from ${min} to ${max}`,
  problem: (value) => {
    return Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max ? null : isShown(value)
  },
})
const fraction: Rule = {
  expected: 'a number from 0 to 1',
  problem: (value) => (typeof value === 'number' && value >= 0 && value <= 1 ? null : isShown(value)),
}
const flag: Rule = {
  expected: 'true or false',
  problem: (value) => (typeof value === 'boolean' ? null : isShown(value)),
}
const choice = (...words: string[]): Rule => ({
  expected: `one of ${words.join(', ')}`,
  problem: (value) => (words.includes(value as string) ? null : isShown(value)),
})
const record: Rule = {
  expected: 'an object',
  problem: (value) => (isRecord(value) ? null : isShown(value)),
}
/** Text that both databases keep as it is: PostgreSQL refuses NUL, and half a surrogate pair would be replaced. */
const text = (lengthMax: number): Rule => ({
  expected: `a text of 1 to ${lengthMax} characters without NUL and half surrogates`,
  problem: (value) => {
    if (typeof value !== 'string') return isShown(value)
    if (value === '') return 'is empty'
    if (value.length > lengthMax) return `has ${value.length} characters`
    if (value.includes('\0')) return `has a NUL character at position ${value.indexOf('\0')}`
    return value.isWellFormed() ? null : 'has half of a surrogate pair'
  },
})
/** What JSON would drop or replace is no part of what is stored, so it is refused instead. */
const data: Rule = {
  expected: plainData,
  problem: (value) => {
    const found = jsonProblem(value)
    if (found === null) return null
    return found.path === '' ? found.problem : `cannot be kept: its ${found.path} ${found.problem}`
  },
}
const options: Rule = {
  expected: `an object of ${plainData}`,
  problem: (value) => record.problem(value) ?? data.problem(value),
}
const target: Rule = {
  expected: `an object with exactly one kind of target, of ${plainData}`,
  problem: (value) => {
    if (value === null) return null
    const unkept = options.problem(value)
    if (unkept !== null) return unkept
    const answer = needOf(value as Target)
    return 'problem' in answer ? answer.problem : null
  },
}
const anything: Rule = { expected: 'plain data', problem: () => null }
const instant = integer(0, instantMax)
const duration = integer(1, durationMsMax)

const plainName = text(nameLengthMax)
/** A schedule that is called like the id of another would be taken for it: deleted ones are known by their ids alone. */
const scheduleName: Rule = {
  expected: `${plainName.expected}, and not the form of an id, such as s-15`,
  problem: (value) => plainName.problem(value) ?? (parseId('schedule', value) === null ? null : 'is the form of an id'),
  required: true,
}

const specRules: Record<keyof ScheduleSpec, Rule> = {
  name: scheduleName,
  timing: { ...record, required: true },
  startNow: flag,
  startAt: instant,
  endAt: instant,
  maxRuns: integer(1, countMax),
  minMs: duration,
  maxMs: duration,
  overlap: choice('skip', 'queue', 'allow', 'cancel'),
  queueMax: anything,
  missed: choice('skip', 'once', 'all'),
  asksWhenMissed: flag,
  maxLatenessMs: integer(0, durationMsMax),
  pauseAfterFailures: integer(1, countMax),
  spread: record,
  queue: text(nameLengthMax),
  priority: integer(-priorityMax, priorityMax),
  concurrencyKey: text(keyLengthMax),
  payload: data,
  target,
  repeatable: flag,
  onExhausted: choice('park', 'fail'),
  notify: options,
  options,
  description: text(descriptionLengthMax),
}
const timingRules: Record<'cron' | 'zone' | 'everyMs' | 'from' | 'at', Rule> = {
  cron: anything,
  zone: anything,
  everyMs: integer(everyMsMin, durationMsMax),
  from: choice('end', 'start'),
  at: instant,
}
const spreadRules: Record<keyof SpreadConfig, Rule> = {
  recurringFraction: { ...fraction, required: true },
  recurringCapMs: { ...integer(0, durationMsMax), required: true },
  oneShotMaxMs: { ...integer(0, durationMsMax), required: true },
  oneShotMinuteModulo: { ...integer(1, 60), required: true },
}

/**
 * Says everything that is wrong with a schedule, so that a door can refuse it whole. An empty list means it is sound.
 *
 * Rules between fields are judged over the fields that are sound by themselves; what only follows from a field that is
 * told as wrong already is not told beside it.
 */
export function scheduleProblems(spec: unknown, check: ScheduleCheck): ScheduleProblem[] {
  if (!isRecord(spec)) return [{ field: 'schedule', problem: isShown(spec), expected: record.expected }]
  const ofFields = [
    ...fieldProblems('', spec, specRules, 'a schedule'),
    ...(isRecord(spec.timing) ? fieldProblems('timing.', spec.timing, timingRules, 'a timing') : []),
    ...(isRecord(spec.spread) ? fieldProblems('spread.', spec.spread, spreadRules, 'a spread') : []),
    ...(isRecord(spec.notify) ? notifyProblems(spec.notify).map(ofNotify) : []),
  ]
  const sound = soundPart(spec, ofFields)
  const told = [...ofFields, ...notFollowing(timingProblems(sound, check), ofFields)]
  const timed = soundPart(sound as unknown as Record<string, unknown>, told)
  const between = [...boundProblems(timed, check), ...windowProblems(timed, check), ...overlapProblems(timed)]
  return [...told, ...notFollowing(between, told)]
}

/** The schedule without the fields that something is wrong with. A cron needs its zone, and neither is asked without the other. */
function soundPart(spec: Readonly<Record<string, unknown>>, problems: readonly ScheduleProblem[]): ScheduleSpec {
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

/** Those that do not speak of a field that is told already: what is wrong there may be all that is wrong here. */
function notFollowing(found: readonly ScheduleProblem[], told: readonly ScheduleProblem[]): ScheduleProblem[] {
  const names = new Set(told.map(({ field }) => field.replace(/^timing\./, '')))
  const isTold = (name: string | undefined) => name !== undefined && names.has(name)
  return found.filter(({ field, problem, expected }) => {
    if (isTold(field.replace(/^timing\./, ''))) return false
    return ![...`${problem} ${expected}`.matchAll(/`(\w+)`/g)].some(([, name]) => isTold(name))
  })
}

function ofNotify(problem: ScheduleProblem): ScheduleProblem {
  return { ...problem, field: `notify.${problem.field}` }
}

function fieldProblems(
  prefix: string,
  given: Record<string, unknown>,
  rules: Readonly<Record<string, Rule>>,
  noun: string,
): ScheduleProblem[] {
  const problems: ScheduleProblem[] = []
  for (const [name, { expected, problem, required }] of Object.entries(rules)) {
    const value = given[name]
    if (value === undefined) {
      if (required === true) problems.push({ field: prefix + name, problem: 'is missing', expected })
      continue
    }
    const found = problem(value)
    if (found !== null) problems.push({ field: prefix + name, problem: found, expected })
  }
  for (const name of Object.keys(given)) {
    if (Object.hasOwn(rules, name)) continue
    const expected = `one of ${Object.keys(rules).join(', ')}`
    problems.push({ field: prefix + name, problem: `is not a field of ${noun}`, expected })
  }
  return problems
}

function timingProblems({ timing, startNow, asksWhenMissed }: ScheduleSpec, check: ScheduleCheck): ScheduleProblem[] {
  const given = timing as Readonly<Record<string, unknown>>
  const kinds = (['cron', 'everyMs', 'at'] as const).filter((kind) => given[kind] !== undefined)
  const problems: ScheduleProblem[] = []
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
      problem: `is ${isoText(timing.at)}, which is over`,
      expected: `${isoText(check.now)} or later`,
    })
  }
  return problems
}

/** The expression and the zone are judged each by itself, so that both are told. */
function cronProblems({ cron: expression, zone }: Readonly<Record<string, unknown>>): ScheduleProblem[] {
  const ofZone = zoneProblems(zone)
  if (typeof expression !== 'string') {
    return [{ field: 'timing.cron', problem: isShown(expression), expected: 'a cron expression' }, ...ofZone]
  }
  try {
    if (!cron(expression, ofZone.length === 0 ? (zone as string) : 'UTC').isNever) return ofZone
    const expected = 'a day and a month that meet in some year'
    const problem = `is ${JSON.stringify(expression)}, which never comes`
    return [{ field: 'timing.cron', problem, expected }, ...ofZone]
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    const { field, position, reason, expected } = error
    const where = field === 'expression' ? '' : ` in its ${field} field`
    const problem = `is wrong${where}, at character ${position + 1}: ${reason}`
    return [{ field: 'timing.cron', problem, expected }, ...ofZone]
  }
}

function zoneProblems(zone: unknown): ScheduleProblem[] {
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

function boundProblems({ timing, minMs, maxMs }: ScheduleSpec, { now }: ScheduleCheck): ScheduleProblem[] {
  const problems: ScheduleProblem[] = []
  if (timing.at !== undefined) {
    for (const [field, bound] of Object.entries({ minMs, maxMs })) {
      if (bound === undefined) continue
      problems.push({
        field,
        problem: 'bounds the time between runs, and an `at` has only one',
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

function windowProblems({ timing, startAt, endAt }: ScheduleSpec, { now, before }: ScheduleCheck): ScheduleProblem[] {
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
  if (endAt < now) return problem('endAt', `is ${isoText(endAt)}, which is over`, `after ${isoText(now)}`)
  if (timing.cron === undefined) return []
  const firstAt = cron(timing.cron, timing.zone).next(Math.max(now, (startAt ?? now) - 1))
  if (firstAt !== null && firstAt <= endAt) return []
  return problem(
    'endAt',
    `is ${isoText(endAt)}, before the cron comes for the first time`,
    'a later one, or leave it out',
  )
}

function isShown(value: unknown): string {
  if (typeof value === 'string') return `is ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'is a list' : 'is an object'
  return typeof value === 'number' || typeof value === 'boolean' || value === null
    ? `is ${value}`
    : `is of the type ${typeof value}`
}

function isoText(ms: number): string {
  return new Date(ms).toISOString()
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
