import type { Hold, Holdable } from '../../core/hold.ts'
import { parseId } from '../../core/id.ts'
import { checkInteger, invalid } from '../check.ts'
import { all, both, clockNow, one, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { holdOf } from './hold-row.ts'

const columns = columnsOf('hold', 'h')
const findHolds = both(
  'holds find',
  `select ${columns} from belfry.hold h where h.ns = $1 and h.id > $2 and h.until_at > $3 order by h.id limit $4`,
)
const findOne = both('holds find one', `select ${columns} from belfry.hold h where h.ns = $1 and h.id = $2`)
const notEnded = 'from belfry.hold h where h.ns = $1 and h.until_at > $2'
const findWide = both(
  'holds find wide',
  `select ${columns} ${notEnded} and (h.scope in ('namespace', 'kind', 'calendar', 'account') or h.scope = 'queue' and h.subject = $3) order by h.id`,
)
const findOn = both(
  'holds find on',
  `select ${columns} ${notEnded} and (h.scope = 'namespace' or h.scope = 'queue' and h.subject = $3
    or h.scope = 'kind' and h.subject in ($4, $5) or h.scope = 'schedule' and h.subject = $6
    or h.scope = 'key' and h.subject = $7 or h.scope = 'calendar' and h.subject = $8
    or h.scope = 'account' and h.subject = $9 or h.scope = 'occurrences' and cast($10 as int) = 1) order by h.id`,
)
const findOfKeys = both(
  'holds find of keys',
  ({ texts }) => `select ${columns} ${notEnded} and h.scope = 'key' and h.subject ${texts('$3')} order by h.id`,
)
const findOfSchedules = both(
  'holds find of schedules',
  ({ numbers }) => `select ${columns}, s.id as schedule_id from belfry.schedule s join belfry.hold h
    on h.ns = s.ns and h.scope = 'schedule' and h.subject = s.name and h.until_at > $2
  where s.id ${numbers('$3')} and s.ns = $1 and s.deleted_at is null order by h.id`,
)

export const holdsMax = 1_000

/** The holds that have not ended, including those that have not begun, by id. */
export function* listHolds(
  { ns }: StoreContext,
  { after, limit = holdsMax }: { after?: string; limit?: number } = {},
): Step<Hold[]> {
  checkInteger(limit, 'limit', 1, holdsMax)
  const behind = after === undefined ? 0 : parseId('hold', after)
  if (behind === null) throw invalid('after', `is ${JSON.stringify(after)}`, 'the id of a hold')
  return (yield* all(findHolds, ns, behind, yield* clockNow(), limit)).map(holdOf)
}

export function* findHold({ ns }: StoreContext, id: string): Step<Hold | null> {
  const number = parseId('hold', id)
  const row = number === null ? undefined : yield* one(findOne, ns, number)
  return row === undefined || (row.until_at as number) <= (yield* clockNow()) ? null : holdOf(row)
}

/** The holds on a piece of work that have not ended. */
export function* holdsOn({ ns }: StoreContext, work: Holdable): Step<Hold[]> {
  const { queue, kind, name, schedule, key, calendar, account } = work
  const lane = kind === undefined || name === undefined ? null : `${kind}/${name}`
  const now = yield* clockNow()
  const subjects = [queue, kind, lane, schedule, key, calendar, account].map((subject) => subject ?? null)
  return (yield* all(findOn, ns, now, ...subjects, work.isOccurrence === true ? 1 : 0)).map(holdOf)
}

/** The holds on a queue or on runs in it that have not ended, with the names of held schedules. */
export function* holdsOver(
  { ns }: StoreContext,
  now: number,
  { queue, rows }: { readonly queue: string; readonly rows: readonly Row[] },
): Step<{ holds: Hold[]; schedules: Map<number, string> }> {
  const listOf = (column: string) =>
    JSON.stringify([...new Set(rows.map((row) => row[column]).filter((value) => value !== null))])
  const wide = yield* all(findWide, ns, now, queue)
  const keyed = yield* all(findOfKeys, ns, now, listOf('concurrency_key'))
  const scheduled = yield* all(findOfSchedules, ns, now, listOf('schedule_id'))
  return {
    holds: [...wide, ...keyed, ...scheduled].map(holdOf),
    schedules: new Map(scheduled.map((row) => [row.schedule_id as number, row.subject as string])),
  }
}
