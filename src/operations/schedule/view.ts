import { isDeepStrictEqual } from 'node:util'
import type { Notify } from '../../core/notice.ts'
import type { ScheduleSpec } from '../../core/schedule.ts'
import type { ScheduleView } from '../../store/view.ts'
import type { ExecutionOptions } from '../execution-input.ts'

/** A schedule in the words of its input: durations in ms, instants in epoch ms, the zone that was resolved. */
export interface ScheduleDefinition
  extends Omit<ScheduleSpec, 'timing' | 'options' | 'notify' | 'spread' | 'asksWhenMissed' | 'onExhausted'>,
    Omit<ExecutionOptions, 'traceparent' | 'maxAttempts'>,
    Notify {
  readonly attempts?: number
  readonly cron?: string
  readonly zone?: string
  readonly everyMs?: number
  readonly from?: 'end' | 'start'
  readonly at?: number
}

/** A schedule with all that is known of it. */
export interface Schedule extends ScheduleDefinition, Omit<ScheduleView, 'spec'> {}

export function definitionOf(spec: ScheduleSpec): ScheduleDefinition {
  const { timing, options = {}, notify = {}, spread: _, asksWhenMissed: __, onExhausted: ___, ...rest } = spec
  const { timeoutMs, expect, maxAttempts, backoff, tags } = options as ExecutionOptions
  const execution = {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(expect !== undefined && { expect }),
    ...(maxAttempts !== undefined && { attempts: maxAttempts }),
    ...(backoff !== undefined && { backoff }),
    ...(tags !== undefined && { tags }),
  }
  return { ...rest, ...(timing as object), ...execution, ...notify }
}

export function scheduleOf({ spec, ...state }: ScheduleView): Schedule {
  return { ...definitionOf(spec), ...state }
}

/** The fields that may change, as they were; one that was not there is not there. */
export type ScheduleBefore = Omit<ScheduleDefinition, 'name'>

export interface Changes {
  /** The fields in which two specs differ. */
  readonly changed: readonly string[]
  /** What these said before. */
  readonly was: ScheduleBefore
}

/** What differs between two specs, in the words of the input. */
export function changesBetween(before: ScheduleSpec, after: ScheduleSpec): Changes {
  const [old, fresh] = [definitionOf(before), definitionOf(after)] as unknown as Readonly<Record<string, unknown>>[]
  const fields = new Set([...Object.keys(old ?? {}), ...Object.keys(fresh ?? {})])
  const changed = [...fields].filter((field) => !isDeepStrictEqual(old?.[field], fresh?.[field]))
  const known = changed.filter((field) => old?.[field] !== undefined)
  return { changed, was: Object.fromEntries(known.map((field) => [field, old?.[field]])) }
}
