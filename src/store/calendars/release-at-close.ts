import { forcedCalendar, toldCalendar } from '../../core/hold.ts'
import { all, both, type Step } from '../statement.ts'
import type { CalendarUse } from './write-closings.ts'

const releasedMax = 500

/** Runs that a person forced continue. */
const findLeased = both(
  'close find leased',
  ({ join }) => `select l.run_id, d.options, q.policy from belfry.lease l ${join.inner('run d', 'd.id = l.run_id')}
    ${join.inner('queue q', 'q.id = l.queue_id')} join belfry.need n on n.id = d.need_id
    where l.ns = $1 and l.run_id > $4 and l.release_requested_at is null and n.calendar not in ('${forcedCalendar}', '${toldCalendar}')
      and ($2 = 'namespace' or $2 = 'queue' and q.name = $3 or $2 = 'calendar' and n.calendar = $3)
    order by l.run_id limit ${releasedMax}`,
)
/** It wakes the holders of these leases. */
export const requestAtClose = both(
  'close request releases',
  ({ numbers }) => `update belfry.lease set release_requested_at = $2, release_reason = $3
    where run_id ${numbers('$1')} and release_requested_at is null returning run_id`,
)

interface LeasedRow {
  readonly run_id: number
  readonly options: string | null
  readonly policy: string
}

/** Asks workers to give running work back when its calendars have closed, if the run or its queue says so. */
export function* releaseAtClose(
  ns: number,
  { scope, subject }: Pick<CalendarUse, 'scope' | 'subject'>,
  { now, closedBy }: { readonly now: number; readonly closedBy: string },
): Step<void> {
  for (let after = 0; ; ) {
    const rows = yield* all<LeasedRow>(findLeased, ns, scope, subject, after)
    const ids = rows
      .filter((row) => (atCloseIn(row.options) ?? atCloseIn(row.policy)) === 'release')
      .map((row) => row.run_id)
    if (ids.length > 0) yield* all(requestAtClose, JSON.stringify(ids), now, `calendar ${closedBy} has closed`)
    after = rows.at(-1)?.run_id ?? 0
    if (rows.length < releasedMax) return
  }
}

function atCloseIn(text: string | null): unknown {
  try {
    return (JSON.parse(text ?? '{}') as { readonly atClose?: unknown }).atClose
  } catch {
    // A run whose options cannot be read finishes.
    return undefined
  }
}
