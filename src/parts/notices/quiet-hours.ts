import { nameIn } from '../../store/calendars/named-calendars.ts'
import { hashOf } from '../../store/check.ts'
import { holdOn } from '../../store/holds/hold-row.ts'
import { both, dialects, one, runEach, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { ChosenNotice } from './notify-ends.ts'

const findHold = both('notice find quiet', `select ${holdOn('calendar', '$2', { now: '$3' })} as id`)
const countHeld = dialects('notice count held', {
  sqlite: `insert into belfry.notice_held as h (ns, target_hash, event, target, count, since) values ($1, $2, $3, $4, $5, $6)
    on conflict (ns, target_hash, event) do update set count = h.count + excluded.count`,
  postgres: `insert into belfry.notice_held as h (ns, target_hash, event, target, count, since)
    select * from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::bigint[], $6::bigint[])
      as i (ns, target_hash, event, target, count, since) order by target_hash, event
    on conflict (ns, target_hash, event) do update set count = h.count + excluded.count`,
})
/** The lane that is held in quiet hours: it must be closed where quiet hours are open. */
export function quietLane(quiet: readonly string[]): string[] {
  return quiet.map((use) => (use.startsWith('!') ? nameIn(use) : `!${use}`)).sort()
}

/** Whether these quiet hours have begun. Their holds are written ahead, as for all work. */
export function* areHoursQuiet(ns: number, quiet: readonly string[], now: number): Step<boolean> {
  return quiet.length > 0 && (yield* one(findHold, ns, quietLane(quiet).join(','), now))?.id != null
}

/** Counts the notices that come in quiet hours, and returns the others. */
export function* heldBack(_: StoreContext, now: number, told: readonly ChosenNotice[]): Step<readonly ChosenNotice[]> {
  const quiet = new Map<string, boolean>()
  for (const { of } of told) {
    const key = `${of.ns} ${of.quiet.join(',')}`
    if (!quiet.has(key)) quiet.set(key, yield* areHoursQuiet(of.ns, of.quiet, now))
  }
  const held = told.filter(({ of }) => quiet.get(`${of.ns} ${of.quiet.join(',')}`) === true)
  const counts = new Map<string, [number, string, string, string, number, number]>()
  for (const { of, target, suppressed } of held) {
    const text = JSON.stringify(target)
    const key = `${of.ns} ${of.event} ${text}`
    const row = counts.get(key) ?? [of.ns, hashOf(text), of.event, text, 0, now]
    row[4] += 1 + suppressed
    counts.set(key, row)
  }
  yield* runEach(countHeld, [...counts.values()])
  return told.filter((one) => !held.includes(one))
}
