import { heldBy, workOfSchedule } from '../../core/hold.ts'
import type { ScheduleRow } from '../schedules/schedule-row.ts'
import { all, both, type Step } from '../statement.ts'
import { columnsOf } from '../tables.ts'
import { holdOf } from './hold-row.ts'

/** Whether a hold of the namespace may make occurrences end without a run: one probe of a small index. */
export function anySkips(ns: string): string {
  return `(select 1 from belfry.hold h where h.ns = ${ns} and h.firing = 'skips' limit 1)`
}

const findSkipping = both(
  'holds find skipping',
  `select ${columnsOf('hold')} from belfry.hold where ns = $1 and firing = 'skips' and from_at <= $2 and until_at > $2`,
)

/** The reasons for which occurrences of these schedules end without a run now, by schedule id. */
export function* skipReasonsOf(rows: readonly ScheduleRow[], now: number): Step<ReadonlyMap<number, string>> {
  const reasons = new Map<number, string>()
  for (const ns of new Set(rows.map((row) => row.ns))) {
    const holds = (yield* all(findSkipping, ns, now)).map(holdOf)
    for (const { id, spec } of rows.filter((row) => row.ns === ns)) {
      const hold = heldBy(holds, workOfSchedule(spec), now)
      if (hold !== null) reasons.set(id, hold.reason)
    }
  }
  return reasons
}
