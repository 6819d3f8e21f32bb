import type { Duty } from '../../engine/part.ts'
import { nameIn } from '../../store/calendars/named-calendars.ts'
import { all, both, clockNow, one, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import { noticesQueue } from './notice.ts'
import { type ChosenNotice, enqueueNotices } from './notify-ends.ts'
import { areHoursQuiet } from './quiet-hours.ts'
import { findNotify } from './read-notices.ts'

const takeHeld = both(
  'notice take held',
  'delete from belfry.notice_held where ns = $1 returning target, event, count, since',
)
const anyHeld = both('notice any held', 'select 1 as held from belfry.notice_held where ns = $1 limit 1')

/** After quiet hours each receiver gets one notification with the count of those that were held back. */
export function* tellHeld(context: StoreContext): Step<string[]> {
  const now = yield* clockNow()
  const { quiet = [] } = yield* findNotify(context)
  if (yield* areHoursQuiet(context.ns, quiet, now)) return []
  const rows = yield* all<{ target: string; event: string; count: number; since: number }>(takeHeld, context.ns)
  const told = [...new Set(rows.map(({ target }) => target))].map((target): ChosenNotice => {
    const own = rows.filter((row) => row.target === target)
    const count = own.reduce((sum, row) => sum + Number(row.count), 0)
    const since = new Date(Math.min(...own.map((row) => Number(row.since)))).toISOString()
    const events = own.map((row) => `${row.count} of ${row.event}`).sort()
    const subject = {
      ns: context.ns,
      subject: 'queue',
      subjectId: 0,
      event: 'held',
      schedule: null,
      queue: noticesQueue,
    } as const
    const reason = `Since ${since}: ${events.join(', ')}. See them with belfry notices.`
    const nothing = { runId: null, attempt: null, failuresInARow: null, isCounted: false, levels: [], quiet: [] }
    const of = { ...subject, ...nothing, reason, namespace: context.namespace }
    return { of, target: JSON.parse(target), suppressed: count }
  })
  return yield* enqueueNotices(context, now, told)
}

export const quietDuty: Duty = {
  name: 'quiet hours',
  everyMs: 30_000,
  async tick({ store }) {
    if ((await store.look(someHeld)) === true) await store.do(tellHeld)
  },
}

function* someHeld({ ns }: StoreContext): Step<boolean> {
  return (yield* one(anyHeld, ns)) !== undefined
}

export function* namesCalendar(
  context: StoreContext,
  calendar: string,
): Step<Readonly<Record<string, readonly string[]>>> {
  const { quiet = [] } = yield* findNotify(context)
  return { notifications: quiet.some((use) => nameIn(use) === calendar) ? ['quiet'] : [] }
}
