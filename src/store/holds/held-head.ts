import type { Candidate } from '../leases/head-of-line.ts'
import { scheduleIdsOf } from '../schedules/schedule-row.ts'
import { all, both, dialects, type Step } from '../statement.ts'
import { holdOn } from './hold-row.ts'

/** What of the head of a line is held by itself, and not with its whole lane. */
export interface HeldHead {
  readonly keys: ReadonlySet<string>
  readonly scheduleIds: ReadonlySet<number>
}

export const nothingHeld: HeldHead = { keys: new Set(), scheduleIds: new Set() }

const asked = { now: '$2' }
const findKeys = dialects('held find keys', {
  sqlite: `select i.value as key from json_each($3) i where ${holdOn('key', 'i.value', asked)} is not null`,
  postgres: `select i.value as key from (select json_array_elements_text($3::json) as value) i
    where ${holdOn('key', 'i.value', asked)} is not null`,
})
const findSchedules = both('held find schedules', ({ numbers }) => {
  return `select s.id from belfry.schedule s where s.id ${numbers('$3')} and ${holdOn('schedule', 's.name', asked)} is not null`
})

/**
 * The keys and schedules of these runs that are held. A step of its own sets such runs aside, and a lease that comes before it, or
 * that meets a run which was enqueued in a caller's own transaction, passes them by.
 */
export function* heldAmong(ns: number, now: number, head: readonly Candidate[]): Step<HeldHead> {
  const keys = new Set(head.flatMap(({ standing: { key } }) => (key === null ? [] : [key])))
  const ids = new Set(scheduleIdsOf(head.map(({ row }) => row)))
  const listOf = (values: ReadonlySet<unknown>) => JSON.stringify([...values])
  const ofKeys = keys.size === 0 ? [] : yield* all<{ key: string }>(findKeys, ns, now, listOf(keys))
  const ofSchedules = ids.size === 0 ? [] : yield* all<{ id: number }>(findSchedules, ns, now, listOf(ids))
  return { keys: new Set(ofKeys.map(({ key }) => key)), scheduleIds: new Set(ofSchedules.map(({ id }) => id)) }
}
