import type { Candidate } from '../leases/head-of-line.ts'
import { scheduleIdsOf } from '../schedules/schedule-row.ts'
import { all, both, dialects, type Step } from '../statement.ts'
import { holdOn } from './hold-row.ts'

/** The holds on single runs at the head of the line, as opposed to holds on their whole lane. */
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
 * The held keys and schedules of these runs. Such runs are set aside in a separate step. A lease that runs before that step, or
 * finds a run enqueued in a caller's own transaction, skips them.
 */
export function* heldAmong(ns: number, now: number, head: readonly Candidate[]): Step<HeldHead> {
  const keys = new Set(head.flatMap(({ standing: { key } }) => (key === null ? [] : [key])))
  const ids = new Set(scheduleIdsOf(head.map(({ row }) => row)))
  const listOf = (values: ReadonlySet<unknown>) => JSON.stringify([...values])
  const ofKeys = keys.size === 0 ? [] : yield* all<{ key: string }>(findKeys, ns, now, listOf(keys))
  const ofSchedules = ids.size === 0 ? [] : yield* all<{ id: number }>(findSchedules, ns, now, listOf(ids))
  return { keys: new Set(ofKeys.map(({ key }) => key)), scheduleIds: new Set(ofSchedules.map(({ id }) => id)) }
}
