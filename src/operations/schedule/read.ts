import type { z } from 'zod'
import type { Notify } from '../../core/notice.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import { needOf, type Target, type TargetKind } from '../../core/target.ts'
import type { Timing } from '../../core/timing.ts'
import { durationOf } from '../duration-input.ts'
import { type ExecutionOptions, executionOptions } from '../execution-input.ts'
import type { Reading } from '../input.ts'
import { notifyOf, notifyPatchOf, wholeNotify } from '../notify-input.ts'
import { onlyGiven } from '../only-given.ts'
import type { Problem } from '../problem.ts'
import { type BackoffFields, changedBackoff } from '../retries-input.ts'
import { type ReadTarget, targetOf } from '../target-input.ts'
import type { ScheduleFields, scheduleChange } from './input.ts'
import { definitionOf } from './view.ts'

export interface Surroundings {
  /** Where relative programs and folders begin. */
  readonly folder: string
  /** The zone of a cron that names none. */
  readonly zone: string
}

export interface ReadSchedule {
  /** What was given, as it was written: problems are told in these words. */
  readonly given: Readonly<Record<string, unknown>>
  /** Without what is unsound, where there are problems. */
  readonly spec: ScheduleSpec
  readonly problems: readonly Problem[]
  readonly ifVersion: number | undefined
  readonly ifId: string | undefined
  readonly reason: string | undefined
}

/** Reads a schedule as people write it into the one that is stored. */
export function readSchedule(reading: Reading<ScheduleFields>, surroundings: Surroundings): ReadSchedule {
  const { folder, zone } = surroundings
  const target = targetOf(reading.value.target, { folder })
  const problems = [...reading.problems]
  const notify = notifyOf(reading.value, { folder, problems })
  return readFields({ ...reading, problems }, reading.value, { target, notify, zone })
}

/** Reads a change of a schedule into the whole schedule as it will be. */
export function readPatch(
  before: ScheduleSpec,
  reading: Reading<z.output<typeof scheduleChange>>,
  surroundings: Surroundings,
): ReadSchedule {
  const { value } = reading
  const { folder, zone } = surroundings
  const target = value.target === undefined ? kept(before.target) : targetOf(value.target, { folder })
  const problems = [...reading.problems]
  const notify = wholeNotify(before.notify, notifyPatchOf(value, { folder, problems }))
  const merged = { ...patchedFields(definitionOf(before) as ScheduleFields, value), name: before.name }
  const read = readFields({ ...reading, problems }, merged, { target, notify, zone })
  return { ...read, spec: { ...notOfInputs(before), ...read.spec, ...otherOptions(before, read.spec) } }
}

/** A name that keeps the rules about everything else going where the real one is wrong, and is told about anyway. */
const placeholder = 'unnamed'

interface Around {
  readonly target: ReadTarget
  readonly notify: Notify | undefined
  readonly zone: string
}

function readFields(
  { given, problems: found }: Pick<ReadSchedule, 'given' | 'problems'>,
  fields: ScheduleFields,
  { target, notify, zone }: Around,
): ReadSchedule {
  const problems = [...found, ...target.problems]
  const options = executionOptions(fields, target.kind, problems)
  const { ifVersion, ifId, reason, startNow, startAt, endAt, maxRuns, overlap, queueMax, missed, ...more } = fields
  const { pauseAfterFailures, queue, priority, concurrencyKey, payload, repeatable, description } = more
  const spec = onlyGiven({
    name: fields.name ?? placeholder,
    timing: timingOf(fields, { given, zone, problems }),
    ...{ startNow, startAt, endAt, maxRuns, overlap, queueMax, missed, pauseAfterFailures },
    minMs: durationOf(fields, 'min', problems),
    maxMs: durationOf(fields, 'max', problems),
    maxLatenessMs: durationOf(fields, 'maxLateness', problems),
    ...{ queue, priority, concurrencyKey, payload, repeatable, description },
    target: target.target ?? undefined,
    notify,
    options: Object.keys(options).length === 0 ? undefined : options,
  }) as ScheduleSpec
  return { given, spec, problems, ifVersion, ifId, reason }
}

const oneTiming = 'exactly one of `cron`, `every` and `at`, or none of them'

/** Whether a problem says that two timings are given. Each of the two is judged all the same. */
export function isClash({ expected }: Problem): boolean {
  return expected === oneTiming
}

interface TimingAround extends Pick<ReadSchedule, 'given'> {
  readonly zone: string
  readonly problems: Problem[]
}

function timingOf(fields: ScheduleFields, { given, zone: zoneDefault, problems }: TimingAround): Timing {
  const { cron, at, from } = fields
  const everyMs = durationOf(fields, 'every', problems)
  // A timing that cannot be read is given too, and a change takes away every timing that it does not give.
  const written = { cron: given.cron, every: given.every ?? given.everyMs, at: given.at }
  const [first, second] = Object.entries(written).flatMap(([name, value]) => (value == null ? [] : [name]))
  if (first !== undefined && second !== undefined) {
    problems.push({ field: second, problem: `is given beside \`${first}\``, expected: oneTiming })
  }
  const zone = fields.zone ?? (cron === undefined ? undefined : zoneDefault)
  return onlyGiven({ cron, zone, everyMs, from, at }) as unknown as Timing
}

/** Each kind of timing with the fields that mean something beside it alone. */
const timingFields: readonly (readonly string[])[] = [
  ['cron', 'zone'],
  ['every', 'everyMs', 'from', 'startNow'],
  ['at'],
]
const durationNames = ['every', 'min', 'max', 'maxLateness', 'timeout']

/** The fields before, changed: what takes the place of something else takes away what only that needed. */
function patchedFields(before: ScheduleFields, patch: Readonly<Record<string, unknown>>): ScheduleFields {
  const fields: Record<string, unknown> = { ...before }
  const isGiven = (name: string) => patch[name] !== undefined
  const isNewTiming = ['cron', 'every', 'everyMs', 'at'].some((name) => isGiven(name) && patch[name] !== null)
  for (const group of timingFields) {
    const [kind = ''] = group
    const isNamed = isGiven(kind) || isGiven(`${kind}Ms`)
    const isRemoved = isNamed && [patch[kind], patch[`${kind}Ms`]].every((value) => value == null)
    if (isRemoved || (isNewTiming && !isNamed)) for (const name of group) delete fields[name]
  }
  for (const name of durationNames) if (isGiven(name) || isGiven(`${name}Ms`)) delete fields[`${name}Ms`]
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete fields[name]
    else if (name === 'backoff' && value !== undefined) {
      fields.backoff = changedBackoff(before.backoff, value as BackoffFields)
    } else if (value !== undefined) fields[name] = value
  }
  return fields as ScheduleFields
}

/** A target that was checked and resolved when it was first written. */
function kept(target: Target | null | undefined): ReadTarget {
  const answer = needOf(target)
  const kind = 'need' in answer ? answer.need?.kind : undefined
  return { target, kind: kind as TargetKind | undefined, problems: [] }
}

/** What no input can say is not taken away by one that says nothing of it. */
function notOfInputs({ spread, asksWhenMissed, onExhausted }: ScheduleSpec): Partial<ScheduleSpec> {
  return onlyGiven({ spread, asksWhenMissed, onExhausted })
}

/** The options that inputs can say. */
const ofInputs: ReadonlySet<string> = new Set<keyof ExecutionOptions>([
  'timeoutMs',
  'expect',
  'maxAttempts',
  'backoff',
  'tags',
])

function otherOptions(before: ScheduleSpec, after: ScheduleSpec): Pick<ScheduleSpec, 'options'> {
  const others = Object.entries(before.options ?? {}).filter(([name]) => !ofInputs.has(name))
  return others.length === 0 ? {} : { options: { ...Object.fromEntries(others), ...after.options } }
}
