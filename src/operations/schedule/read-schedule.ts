import type { z } from 'zod'
import { type Fields, namedFields, type StoredOf } from '../../core/field-table.ts'
import { executionFields } from '../../core/run/work-fields.ts'
import { scheduleFields, timingFields } from '../../core/schedule/schedule-fields.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { Target } from '../../core/target.ts'
import type { Timing } from '../../core/timing/timing.ts'
import { kindOf, type TargetKind } from '../../targets/kind.ts'
import { namesOfCopied, readAdded, unfitProblems } from '../fields/added-fields.ts'
import { storedFields } from '../fields/field-schema.ts'
import { onlyGiven } from '../fields/only-given.ts'
import type { Reading } from '../input/read-input.ts'
import type { Problem } from '../input/refuse-input.ts'
import type { Reader } from '../operation-context.ts'
import { executionOptions } from '../target/execution-options.ts'
import { keptQueue, kindQueue } from '../target/kind-queue.ts'
import { outsideHosts, type ReadTarget, targetOf } from '../target/target-input.ts'
import { definitionOf } from './schedule-answer.ts'
import { givenFields, type ScheduleFields, type scheduleChange } from './schedule-input.ts'

export interface Surroundings extends Reader {
  /** The time zone for a cron without one. */
  readonly zone: string
}

export interface ReadSchedule {
  /** The input as the caller wrote it; problems use these words. */
  readonly given: Readonly<Record<string, unknown>>
  /** Without the invalid fields, when there are problems. */
  readonly spec: ScheduleSpec
  readonly problems: readonly Problem[]
  readonly added?: readonly string[]
  readonly ifVersion: number | undefined
  readonly ifId: string | undefined
  readonly reason: string | undefined
}

type Definition = StoredOf<typeof givenFields>

/** Reads a schedule input into its stored form. */
export function readSchedule(reading: Reading<ScheduleFields>, surroundings: Surroundings): ReadSchedule {
  const { value } = reading
  const { folder, kinds } = surroundings
  const problems = [...reading.problems]
  const target = targetOf(value.target, { folder, kinds })
  const definition: Definition = storedFields(givenFields, value, problems)
  return specOf({ ...reading, problems }, { definition, target }, surroundings)
}

/** Reads a change into the whole schedule as it will be. */
export function readPatch(
  before: ScheduleSpec,
  reading: Reading<z.output<typeof scheduleChange>>,
  surroundings: Surroundings,
): ReadSchedule {
  const { value } = reading
  const { folder, kinds } = surroundings
  const problems = [...reading.problems]
  const target = value.target === undefined ? kept(before.target, kinds) : targetOf(value.target, { folder, kinds })
  const definition = changed(definitionOf(before), storedFields(givenFields, value, problems))
  const { name } = before
  return specOf({ ...reading, value: { ...value, name }, problems }, { before, definition, target }, surroundings)
}

/** A stand-in for an invalid name, so that the other rules are still checked. */
const placeholder = 'unnamed'

interface Written {
  readonly before?: ScheduleSpec | undefined
  readonly definition: Definition
  readonly target: ReadTarget
}

/**
 * The spec from the fields that were read. Fields that no input can set stay, and so do added fields that a change does not
 * mention.
 */
function specOf(
  { given, value, problems: found }: Reading<Partial<z.output<typeof scheduleChange>>>,
  { before, definition, target }: Written,
  { folder, kinds, zone, fields = {} }: Surroundings,
): ReadSchedule {
  const { name = placeholder, ifVersion, ifId, reason } = value
  const problems = [...found, ...target.problems]
  noteClash(given, problems)
  const execution = executionOptions(definition, { given: value, kind: target.kind, problems })
  const added = readAdded(fields.schedule, value, { folder, kinds, problems })
  // Options that runs have too are stored where they are copied to the runs.
  const ofRuns = namesOfCopied(fields)
  const ofKind = value.target == null || target.target == null ? {} : target.kind?.optionsOf?.(target.target)
  const options = { ...ofKind, ...besides(before?.options, optionNames), ...execution, ...among(added, ofRuns) }
  const timing = among(definition, timingNames) as Readonly<Record<string, unknown>>
  const isOnce = value.target != null && target.target != null && target.kind?.repeats?.(target.target) === false
  const repeats = isOnce ? { repeatable: false } : {}
  const queue = kindQueue({ kind: target.kind, given: value.queue, problems })
  const spec = {
    ...besides(before, specNames),
    ...repeats,
    ...among(definition, scheduleNames),
    ...keyOf({ before, definition, target }, kinds),
    queue: queue ?? keptQueue({ ...before, queue: definition.queue }, kinds),
    ...besides(added, ofRuns),
    name,
    ...zoned(timing, {
      zone: zoneKept(before) ?? zone,
      isWindowed: isWindowed(definition, { ...before, ...added }),
      isGiven: value.zone != null,
    }),
    target: target.target ?? undefined,
    options: Object.keys(withoutTaken(options, added)).length === 0 ? undefined : withoutTaken(options, added),
  }
  const beside = {
    target: target.problems.length === 0 ? target.target : undefinedTarget,
    timing: spec.timing as Timing,
  }
  problems.push(...unfitProblems(fields.schedule, withoutTaken({ ...spec, ...options }, added), beside))
  problems.push(...noopProblems(definition, beside.target))
  const names = Object.keys(fields.schedule ?? {})
  return {
    given,
    spec: onlyGiven(withoutTaken(spec, added)) as ScheduleSpec,
    problems,
    added: names,
    ifVersion,
    ifId,
    reason,
  }
}

/** Whether hints may be bound to a window, of the schedule or of its group. */
function isWindowed({ window }: Definition, { group }: { readonly group?: unknown }): boolean {
  return window !== undefined || group != null
}

/** The zone in which a schedule is read. It stays when the timing changes, so that a window of hints does not move. */
export function zoneKept(before: Pick<ScheduleSpec, 'timing' | 'zone'> | undefined): string | undefined {
  return before?.timing.cron === undefined ? before?.zone : before.timing.zone
}

/**
 * The timing with its zone. Without a cron the zone is that of the window, and a zone that nothing needs any more is
 * removed.
 */
function zoned(
  { zone: given, ...timing }: Readonly<Record<string, unknown>>,
  { zone, isWindowed: needsZone, isGiven }: { zone: string; isWindowed: boolean; isGiven: boolean },
): { readonly timing: object; readonly zone: unknown } {
  if (timing.cron !== undefined) return { timing: { ...timing, zone: given ?? zone }, zone: undefined }
  if (needsZone) return { timing, zone: given ?? zone }
  return { timing: isGiven ? { ...timing, zone: given } : timing, zone: undefined }
}

/**
 * The concurrency key that the target gives its runs, where no caller chose a key. A key that came from the previous target is replaced by
 * that of the new one.
 */
function keyOf(
  { before, definition, target }: Written,
  kinds: readonly TargetKind[],
): { concurrencyKey?: string | undefined } {
  const was = before?.target == null ? undefined : kindOf(before.target, kinds)?.keyOf?.(before.target)
  if (definition.concurrencyKey !== undefined && definition.concurrencyKey !== was) return {}
  return { concurrencyKey: target.target == null ? undefined : target.kind?.keyOf?.(target.target) }
}

/** A target with problems counts as given, so that it is not also reported as missing. */
const undefinedTarget: Target = {}

function noopProblems({ maxNoop, expect }: Definition, target: Target | null | undefined): Problem[] {
  if (maxNoop === undefined) return []
  if (target == null) return [{ field: 'maxNoop', ...outsideHosts }]
  if (expect?.noop !== undefined) return []
  const problem = 'means nothing without `expect.noop`'
  return [
    { field: 'maxNoop', problem, expected: '`expect.noop` too, the rule for an answer without work; or no maxNoop' },
  ]
}

const timingNames = storedNames(timingFields)
const scheduleNames = storedNames(scheduleFields)
const optionNames = [...storedNames(executionFields), 'maxAttempts']
const specNames = [...scheduleNames, 'name', 'timing', 'zone', 'options']

function storedNames(fields: Fields): string[] {
  return namedFields(fields).map(({ stored }) => stored)
}

function among(stored: object, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => names.includes(name)))
}

function besides(stored: object = {}, names: readonly string[]): object {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !names.includes(name)))
}

/** Leaves out the added fields that a change removes. */
function withoutTaken(stored: object, added: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => added[name] !== null))
}

const oneTiming = 'exactly one of `cron`, `every` and `at`, or none of them'

/** Whether a problem says that two timings are given. Each of the two timings is still checked. */
export function isClash({ expected }: Problem): boolean {
  return expected === oneTiming
}

/** An unreadable timing counts as given, and a change removes every timing that it does not give. */
function noteClash(given: ReadSchedule['given'], problems: Problem[]): void {
  const written = { cron: given.cron, every: given.every ?? given.everyMs, at: given.at }
  const [first, second] = Object.entries(written).flatMap(([name, value]) => (value == null ? [] : [name]))
  if (first === undefined || second === undefined) return
  problems.push({ field: second, problem: `is given beside \`${first}\``, expected: oneTiming })
}

/** Each kind of timing with the fields that apply only to it. */
const timings = [['cron', 'zone'], ['everyMs', 'from', 'startNow'], ['at']] as const

/** A change applied to a definition: a new timing or target also removes the fields that only the old one used. */
function changed(before: Definition, patch: Readonly<Record<string, unknown>>): Definition {
  const { backoff } = patch
  const isNewTiming = timings.some(([kind]) => patch[kind] != null)
  const gone = timings.filter(([kind]) => patch[kind] === null || (isNewTiming && patch[kind] === undefined)).flat()
  const stays = besides(before, gone)
  const fields = {
    ...stays,
    ...patch,
    ...(backoff != null && { backoff: { ...before.backoff, ...(backoff as object) } }),
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** A stored target was checked and resolved when it was written. */
function kept(target: Target | null | undefined, kinds: readonly TargetKind[]): ReadTarget {
  return { target, kind: kindOf(target, kinds), problems: [] }
}
