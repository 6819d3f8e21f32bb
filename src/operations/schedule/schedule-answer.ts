import { isDeepStrictEqual } from 'node:util'
import type { AddedToRun, AddedToSchedule, StoredFields } from '../../core/added.ts'
import type { StoredOf } from '../../core/field-table.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { ScheduleView } from '../../store/views.ts'
import type { ExecutionOptions } from '../target/execution-options.ts'
import type { givenFields } from './schedule-input.ts'

/** A schedule with the fields of its input: durations in ms, instants in epoch ms, the resolved time zone. */
export interface ScheduleDefinition
  extends StoredOf<typeof givenFields>,
    StoredFields<AddedToSchedule>,
    StoredFields<AddedToRun> {
  readonly name: string
}

export interface Schedule
  extends ScheduleDefinition,
    Omit<ScheduleView, 'spec' | 'calendars' | 'window' | 'settings'> {}

export function definitionOf(spec: ScheduleSpec): ScheduleDefinition {
  const { timing, options = {}, spread: _, asksWhenMissed: __, onExhausted: ___, task: ____, ...rest } = spec
  const { maxAttempts, ...execution } = options as ExecutionOptions
  const attempts = maxAttempts === undefined ? {} : { attempts: maxAttempts }
  return { ...rest, ...(timing as object), ...execution, ...attempts }
}

export function scheduleOf({ spec, calendars: _, window: __, settings: ___, ...state }: ScheduleView): Schedule {
  return { ...definitionOf(spec), ...state }
}

/** The fields that may change, with their previous values; an absent field stays absent. */
export type ScheduleBefore = Omit<ScheduleDefinition, 'name'>

export interface Changes {
  readonly changed: readonly string[]
  /** The previous values of those fields. */
  readonly was: ScheduleBefore
}

/** The differences between two specs, by input field. */
export function changesBetween(before: ScheduleSpec, after: ScheduleSpec): Changes {
  const [old, fresh] = [definitionOf(before), definitionOf(after)] as unknown as Readonly<Record<string, unknown>>[]
  const fields = new Set([...Object.keys(old ?? {}), ...Object.keys(fresh ?? {})])
  const changed = [...fields].filter((field) => !isDeepStrictEqual(old?.[field], fresh?.[field]))
  const known = changed.filter((field) => old?.[field] !== undefined)
  return { changed, was: Object.fromEntries(known.map((field) => [field, old?.[field]])) }
}
