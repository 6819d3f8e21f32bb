import { formatId } from '../../core/id.ts'
import { all, both, one, type Statement, type Step } from '../statement.ts'
import { type Candidates, integerIn, misplaced, type RunQuery, runIn } from './run-sources.ts'

/**
 * These lists are ordered by creation time, newest first, then by id. Ids alone do not give that order: on PostgreSQL each
 * process takes ids from its own block, and on SQLite a caller's transaction has its own range.
 */
interface MadeAt {
  readonly id: number
  readonly at: number
}

/** No query passes more rows than this, however few it returns. */
const windowRowsMax = 5_000

interface Windowed {
  /** Whether a window also contains rows of other kinds. */
  readonly isMixed: boolean
  readonly matches: Statement
  /** The last row of a full window, where the next query begins. */
  readonly edge: Statement
}

/** Rows of one namespace in the order of an index, filtered by queue or kind. */
function windowed(name: string, rows: { table: string; id: string; within: string; sifted?: string }): Windowed {
  const { table, id, within, sifted = 'true' } = rows
  const behind = `ns = $1 and ${within} and (enqueued_at, ${id}) < ($2, $3) order by enqueued_at desc, ${id} desc`
  const kind = rows.sifted === undefined ? '' : ', kind'
  const window = `(select ${id} as id, enqueued_at as at, queue_id${kind} from belfry.${table} where ${behind} limit $4) w`
  return {
    isMixed: rows.sifted !== undefined,
    matches: both(
      `list ${name}`,
      `select w.id, w.at from ${window} where (cast($5 as bigint) is null or w.queue_id = cast($5 as bigint)) and ${sifted}
        order by w.at desc, w.id desc limit $6`,
    ),
    edge: both(
      `list ${name} edge`,
      `select ${id} as id, enqueued_at as at from belfry.${table} where ${behind} limit 1 offset ${windowRowsMax - 1}`,
    ),
  }
}

const run = { table: 'run', id: 'id' }
/** Runs of schedules have their own index, for the event stream; all others have another, and no run is in both. */
const enqueuedRuns = windowed('enqueued runs', { ...run, within: 'schedule_id is null' })
const firedRuns = windowed('fired runs', { ...run, within: 'schedule_id is not null' })
const madeBehind = (schedule: string) => `select id, at from (select id, enqueued_at as at from belfry.run
    where ns = $1 and schedule_id is ${schedule} and (enqueued_at, id) < ($2, $3) order by enqueued_at desc, id desc limit $4)`
/** Both at once where nothing is filtered, which saves PostgreSQL a round trip. */
const findEvery = both(
  'list runs',
  `${madeBehind('null')} e union all ${madeBehind('not null')} f order by at desc, id desc limit $4`,
)
const aside = { table: 'aside', id: 'run_id', within: `kind <> 'parked'` }
const waitingRuns = windowed('waiting runs', { ...aside, sifted: `w.kind in ('waiting', 'key', 'overlap')` })
const heldRuns = windowed('held runs', { ...aside, sifted: `w.kind = 'held'` })

/**
 * The ceilings limit how many runs are in flight, and every lease counts those runs, so they are sorted without an
 * index.
 */
const findLeased = both(
  'list leased runs',
  ({
    join,
  }) => `select l.run_id as id, d.enqueued_at as at from belfry.lease l ${join.inner('run d', 'd.id = l.run_id')}
    where l.ns = $1 and (d.enqueued_at, d.id) < ($2, $3) and (cast($4 as bigint) is null or l.queue_id = cast($4 as bigint))
    order by d.enqueued_at desc, d.id desc limit $5`,
)
const findMadeBy = both(
  'list runs of schedule',
  `select id, enqueued_at as at from belfry.run where schedule_id = $1 and (enqueued_at, id) < ($2, $3)
    order by enqueued_at desc, id desc limit $4`,
)
const findOfSchedule = both(
  'list live runs of schedule',
  ({
    join,
  }) => `select s.run_id as id, d.enqueued_at as at from belfry.schedule_run s ${join.inner('run d', 'd.id = s.run_id')}
    where s.schedule_id = $1 and (d.enqueued_at, d.id) < ($2, $3) order by d.enqueued_at desc, d.id desc limit $4`,
)

const madeMark = 'made/'
export const waitingMark = 'waiting/'

export function* everyRunSource(look: RunQuery): Step<Candidates> {
  if (look.queueId !== null) return yield* throughWindows([enqueuedRuns, firedRuns], look, madeMark)
  const { at, id } = madeIn(look, madeMark)
  return pageOf(yield* all<MadeAt>(findEvery, look.ns, at, id, look.most), look)
}
export const heldSource = (look: RunQuery) => throughWindows([heldRuns], look, madeMark)
export const waitingSource = (look: RunQuery) => throughWindows([waitingRuns], look, waitingMark)

/** Merges several lists in one order. Below the end of the shortest window there may be runs that it did not reach. */
function* throughWindows(lists: readonly Windowed[], look: RunQuery, mark: string): Step<Candidates> {
  const from = madeIn(look, mark)
  const found: MadeAt[] = []
  let end: MadeAt | null = null
  for (const list of lists) {
    const seen = yield* throughWindow(list, look, from)
    found.push(...seen.found)
    if (seen.end !== null && (end === null || newestFirst(seen.end, end) < 0)) end = seen.end
  }
  const reached = found.filter((one) => end === null || newestFirst(one, end) <= 0).sort(newestFirst)
  const page = reached.slice(0, look.most)
  const next = page.length === look.most ? (page.at(-1) ?? end) : end
  return { found: page.map((one) => candidateOf(one, mark)), next: next === null ? null : placeOf(next, mark) }
}

/** `end` is where the query stopped before the end of the list. */
function* throughWindow(
  { isMixed, matches, edge }: Windowed,
  { ns, queueId, most }: RunQuery,
  { at, id }: MadeAt,
): Step<{ found: MadeAt[]; end: MadeAt | null }> {
  const isSifted = isMixed || queueId !== null
  const rows = isSifted ? windowRowsMax : most
  const found = yield* all<MadeAt>(matches, ns, at, id, rows, queueId, most)
  if (found.length === most) return { found, end: found.at(-1) ?? null }
  return { found, end: isSifted ? ((yield* one<MadeAt>(edge, ns, at, id)) ?? null) : null }
}

export function* leasedSource(look: RunQuery): Step<Candidates> {
  const { at, id } = madeIn(look, madeMark)
  return pageOf(yield* all<MadeAt>(findLeased, look.ns, at, id, look.queueId, look.most), look)
}

export const scheduleSource = (scheduleId: number, look: RunQuery) => ofSchedule(findOfSchedule, scheduleId, look)
/** All runs of a schedule that the store still has. */
export const madeBySource = (scheduleId: number, look: RunQuery) => ofSchedule(findMadeBy, scheduleId, look)

function* ofSchedule(statement: Statement, scheduleId: number, look: RunQuery): Step<Candidates> {
  const { at, id } = madeIn(look, madeMark)
  return pageOf(yield* all<MadeAt>(statement, scheduleId, at, id, look.most), look)
}

function pageOf(rows: readonly MadeAt[], { most }: RunQuery): Candidates {
  const last = rows.at(-1)
  const next = rows.length < most || last === undefined ? null : placeOf(last, madeMark)
  return { found: rows.map((row) => candidateOf(row, madeMark)), next }
}

function candidateOf(made: MadeAt, mark: string) {
  return { id: made.id, place: placeOf(made, mark) }
}

function placeOf({ at, id }: MadeAt, mark: string): string {
  return `${mark}${at}/${formatId('run', id)}`
}

/**
 * The mark distinguishes a cursor of these lists from cursors of lists by ends, and from those of versions that ordered by id.
 */
function madeIn(look: RunQuery, mark: string): MadeAt {
  if (look.before === undefined) return { at: Number.MAX_SAFE_INTEGER, id: 0 }
  if (!look.before.startsWith(mark)) return misplaced(look)
  const [at, id, ...more] = look.before.slice(mark.length).split('/')
  return more.length > 0 ? misplaced(look) : { at: integerIn(at, look), id: runIn(id ?? '', look) }
}

function newestFirst(a: MadeAt, b: MadeAt): number {
  return b.at - a.at || b.id - a.id
}
