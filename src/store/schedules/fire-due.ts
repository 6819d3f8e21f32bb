import { formatId } from '../../core/id.ts'
import { afterFire } from '../../core/schedule/after-fire.ts'
import { type Fire, type LiveName, type Turn as TurnOf, takeTurn } from '../../core/schedule/turn.ts'
import { checkInteger } from '../check.ts'
import { stopsFiring } from '../holds/hold-row.ts'
import { anySkips, skipReasonsOf } from '../holds/skipping-holds.ts'
import { anyStops, forgetSpans, noStops, postponeStopped, type Stops, stopsOf } from '../holds/stopped-schedules.ts'
import type { Fired } from '../port.ts'
import { admit } from '../runs/admit.ts'
import { cancelRuns } from '../runs/cancel-runs.ts'
import { arrivalOf } from '../runs/enqueue.ts'
import { missedReason, setAside } from '../runs/ready-aside.ts'
import { countsRuns, type RunRoom, roomsOf } from '../runs/run-quota.ts'
import { type RunRow, writeRuns } from '../runs/run-row.ts'
import { all, clockOr, dialects, freshIds, type Row, runEach, type Step, storeClock } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { spreadCatchUp } from './catch-up.ts'
import { endHints } from './hint-row.ts'
import { releaseRuns } from './hold-runs.ts'
import { askedOutcome, type LedgerEntry, passedEntry, writeLedger } from './ledger.ts'
import { type LiveRunRow, listLiveRuns, liveRunsOf } from './live-run.ts'
import { askForWork, refuseUnfit, runOf, type Work, workOf } from './occurrence-run.ts'
import {
  lockSchedules,
  type ScheduleRow,
  savePlans,
  saveSchedules,
  scheduleColumns,
  scheduleRowOf,
} from './schedule-row.ts'

type Turn = TurnOf<ScheduleRow>

/**
 * Each row is checked for a stopped namespace, without a join, because PostgreSQL would begin with the holds and sort everything
 * due. Each row also returns the clock by which it is due, which saves PostgreSQL a round trip.
 */
const dueRows = (now: string) => `select ${scheduleColumns('s')}, (select ${now}) as now,
  ${anySkips('s.ns')} as skips, ${countsRuns('s.ns')} as counts, ${anyStops('s.ns')} as stops from belfry.schedule s
  where s.wake_at <= (select ${now}) and s.wake_at is not null
  and not ${stopsFiring({ ns: 's.ns', now: `(select ${now})` })}`
const oldestFirst = 'order by s.wake_at, s.id limit $2'
const lockOldest = dialects('fire lock oldest', {
  sqlite: `${dueRows('$1')} ${oldestFirst}`,
  postgres: `${dueRows(clockOr('$1'))} ${oldestFirst} for no key update skip locked`,
})
const newestFirst = 'and (s.wake_at, s.id) > ($3, $4) order by s.wake_at desc, s.id desc limit $2'
const lockNewest = dialects('fire lock newest', {
  sqlite: `${dueRows('$1')} ${newestFirst}`,
  postgres: `${dueRows('$1::bigint')} ${newestFirst} for no key update skip locked`,
})

/** Runs made in one transaction at most, so that a long catch-up does not lock out other writers. */
const runsMax = 2_000
/**
 * How soon a schedule is checked again that cannot be evaluated here, or that is a task while durable tasks are
 * off.
 */
const askAgainMs = 60_000

const postpone = dialects('fire postpone', tables.schedule.only('id', 'wakeAt').update())

/**
 * Makes runs of due occurrences and asks the governor for the next ones, for many schedules in one step. Schedules locked by
 * another transaction are left for the next step.
 */
export function* fireDue(context: StoreContext, { limit }: { limit: number }): Step<Fired> {
  checkInteger(limit, 'limit', 1, 100_000)
  const found = yield* lockDue(limit)
  const [first] = found
  if (first === undefined) return { runs: [], skipped: [], broken: [], schedules: 0, more: false }
  const now = first.now as number
  const { due: read, unread } = readRows(found)
  // Tasks that are off are checked again in a minute, so that they delay no other schedule.
  const off = read.filter(({ spec, settings }) => settings?.values.durable === false && spec?.task !== undefined)
  const due = read.filter((row) => !off.includes(row))
  yield* runEach(
    postpone,
    [...unread.map(({ row }) => row.id as number), ...off.map(({ id }) => id)].map((id) => [id, now + askAgainMs]),
  )
  const stops = found.some((row) => row.stops !== null) ? yield* stopsOf(due, now) : noStops
  yield* postponeStopped(stops)
  const free = due.filter(({ id }) => !stops.stopped.has(id))
  const reasons = found.some(({ skips }) => skips !== null) ? yield* skipReasonsOf(free, now) : none.reasons
  const counted = found.flatMap(({ ns, counts }) => (counts === 1 ? [ns as number] : []))
  const rooms = counted.length === 0 ? none.rooms : yield* roomsOf(context, counted, now)
  const { fired, after } = yield* fireSchedules(context, now, free, { reasons, rooms, spans: stops.spans })
  yield* forgetSpans(due, stops)
  const more = found.length === limit || after.size < free.length || [...after.values()].some((row) => isDue(row, now))
  const own = unread.filter(({ row }) => row.ns === context.ns)
  const broken = [...own.map(({ row, error }) => ({ schedule: row.name as string, error })), ...fired.broken]
  return { ...fired, broken, schedules: after.size + stops.stopped.size + unread.length + off.length, more }
}

/**
 * Half of a step goes to the longest due schedules and half to the latest due, alternating: with ten thousand due in one instant,
 * a schedule that is due a moment later would otherwise wait for all of them. Each step still fires the longest due ones.
 */
function* lockDue(limit: number): Step<Row[]> {
  const oldest = yield* all(lockOldest, storeClock, Math.ceil(limit / 2))
  const last = oldest.at(-1)
  const rest = Math.floor(limit / 2)
  if (last === undefined || rest === 0 || oldest.length < Math.ceil(limit / 2)) return oldest
  const { now, wake_at: wakeAt, id } = last as Record<string, number>
  const found = yield* all(lockNewest, now as number, rest, wakeAt as number, id as number)
  // PostgreSQL returns a row that was moved during the query with its new values in its old position: the last row of the first
  // query is not always the latest due, and the second query may find a row again.
  const taken = new Set(oldest.map((row) => row.id))
  const newest = found.filter((row) => !taken.has(row.id))
  return oldest.flatMap((row, index) => [row, ...newest.slice(index, index + 1)])
}

/** An unreadable row is set apart like one that cannot be evaluated. */
function readRows(rows: readonly Row[]): { due: ScheduleRow[]; unread: { row: Row; error: Error }[] } {
  const due: ScheduleRow[] = []
  const unread: { row: Row; error: Error }[] = []
  for (const row of rows) {
    try {
      due.push(scheduleRowOf(row))
    } catch (error) {
      unread.push({ row, error: error as Error })
    }
  }
  return { due, unread }
}

function isDue({ wakeAt }: ScheduleRow, now: number): boolean {
  return wakeAt !== null && wakeAt <= now
}

interface FiredSchedules {
  readonly fired: Pick<Fired, 'runs' | 'skipped' | 'broken'>
  /** The schedules as they are stored now, without those that are left for the next step. */
  readonly after: ReadonlyMap<number, ScheduleRow>
}

/** The reasons that keep occurrences from becoming runs. */
interface Kept {
  /** Why occurrences now end without a run, by schedule. */
  readonly reasons: ReadonlyMap<number, string>
  /** How many runs may be made, by namespace. */
  readonly rooms: ReadonlyMap<number, RunRoom>
  /** When past stops kept schedules from firing, by schedule. */
  readonly spans: Stops['spans']
}

const none: Kept = { reasons: new Map(), rooms: new Map(), spans: noStops.spans }

/**
 * Fires locked schedules, with one statement per kind of write. Occurrences that holds keep from running end
 * without a run.
 */
function* fireSchedules(
  context: StoreContext,
  now: number,
  rows: readonly ScheduleRow[],
  kept = none,
): Step<FiredSchedules> {
  const wanted = yield* askForWork(rows)
  const { taken, broken } = yield* turnsOf(context, now, rows, kept)
  const turns = yield* spreadCatchUp(now, bounded(taken))
  for (const turn of turns) if (turn.releases) yield* releaseRuns(now, turn.row)
  const firing = turns.filter(({ fires }) => fires.length > 0)
  const work = yield* workOf(
    context,
    firing.map(({ row }) => row),
    wanted,
  )
  const ids = yield* freshIds(firing.reduce((sum, { fires }) => sum + fires.length, 0))
  const batches = new Map<Turn, RunRow[]>()
  for (const turn of firing) batches.set(turn, runsOf(turn, work, now, ids.splice(0, turn.fires.length)))
  const held = new Set(firing.flatMap(({ row }) => (row.heldBy === null ? [] : [row.id])))
  const asked = new Set([...batches].flatMap(([{ fires }, runs]) => runs.filter((_, index) => fires[index]?.isAsked)))
  const written = yield* makeRuns(context, now, [...batches.values()].flat(), { work, held, asked })

  yield* writeLedger(
    now,
    turns.flatMap((turn) => entriesOf(turn, batches.get(turn) ?? [], written)),
  )
  yield* endHints(turns.flatMap(({ endedHints }) => endedHints))
  const after = [
    ...turns.map((turn) =>
      afterFire(
        turn,
        now,
        (batches.get(turn) ?? []).filter(({ id }) => written.has(id)),
      ),
    ),
    ...broken.map(({ row }) => ({ ...row, wakeAt: now + askAgainMs })),
  ]
  const isPlain = new Set(turns.filter(isPlainTurn).map(({ row }) => row.id))
  yield* savePlans(after.filter(({ id }) => isPlain.has(id)))
  yield* saveSchedules(after.filter(({ id }) => !isPlain.has(id)))
  // A step fires for all namespaces of the database, and reports only its own.
  const isOwn = ({ row }: { row: ScheduleRow }) => row.ns === context.ns
  const sentences = broken.filter(isOwn).map(({ row, error }) => ({ schedule: row.name, error }))
  const fired = { ...reportOf(turns.filter(isOwn), batches, written), broken: sentences }
  return { fired, after: new Map(after.map((row) => [row.id, row])) }
}

/**
 * Fires what is due of one locked schedule before it is changed. A budget or quota that is used up keeps these occurrences from becoming
 * runs as it does when a worker fires them.
 */
export function* fireBefore(context: StoreContext, now: number, row: ScheduleRow): Step<ScheduleRow> {
  const reasons = yield* skipReasonsOf([row], now)
  const rooms = yield* roomsOf(context, [row.ns], now)
  return (yield* fireSchedules(context, now, [row], { ...none, reasons, rooms })).after.get(row.id) ?? row
}

/** Whether a turn made only runs, as nearly every turn does, and changed nothing else of the schedule. */
function isPlainTurn({ fires, passed, skips, endedHints, releases, cancels, waitingHint }: Turn): boolean {
  const isEventful = passed.length + skips.length + endedHints.length > 0 || releases || cancels || waitingHint
  return fires.length > 0 && !isEventful
}

interface Turns {
  readonly taken: readonly Turn[]
  readonly broken: readonly { readonly row: ScheduleRow; readonly error: Error }[]
}

/** Runs that a new one replaces end first; schedules that their ends change are read again before the turn. */
function* turnsOf(context: StoreContext, now: number, rows: readonly ScheduleRow[], kept: Kept): Step<Turns> {
  const live = yield* liveRunsOf(rows.map(({ id }) => id))
  const { taken, broken } = allTurns(rows, now, live, kept)
  const replaced = new Set(taken.filter(({ cancels }) => cancels).map(({ row }) => row.id))
  if (replaced.size === 0) return { taken, broken }
  for (const row of rows) {
    if (replaced.has(row.id)) yield* cancelRuns(context, now, row, { reason: 'replaced', leased: true })
  }
  const fresh = yield* lockSchedules([...replaced], { wait: true })
  // These runs were counted already.
  const again = allTurns([...fresh.values()], now, yield* liveRunsOf([...replaced]), { ...kept, rooms: none.rooms })
  return {
    taken: [...taken.filter(({ row }) => !replaced.has(row.id)), ...again.taken],
    broken: [...broken, ...again.broken],
  }
}

/** A schedule that this machine cannot evaluate, say for a missing time zone, must not stop the others. */
function allTurns(
  rows: readonly ScheduleRow[],
  now: number,
  live: ReadonlyMap<number, LiveRunRow[]>,
  { reasons, rooms, spans }: Kept,
): Turns {
  const taken: Turn[] = []
  const broken: { row: ScheduleRow; error: Error }[] = []
  for (const row of rows) {
    try {
      refuseUnfit(row)
      const room = rooms.get(row.ns)
      // The quota is locked, so that raising it at this moment wakes the schedules that are
      // postponed here.
      const until = room?.left === 0 ? room.until : undefined
      const taking = (skipped: string | undefined) =>
        takeTurn(row, now, live.get(row.id) ?? [], {
          ...{ skipped, stops: spans.get(row.id) },
          until: skipped === room?.outcome ? until : undefined,
        })
      const turn = taking(reasons.get(row.id))
      const isKept = room !== undefined && turn.fires.length > room.left
      if (room !== undefined && !isKept) room.left -= turn.fires.length
      taken.push(isKept ? taking(room.outcome) : turn)
    } catch (error) {
      broken.push({ row, error: error as Error })
    }
  }
  return { taken, broken }
}

function bounded(turns: readonly Turn[]): Turn[] {
  let runs = 0
  return turns.filter(({ fires }, index) => {
    runs += fires.length
    return index === 0 || runs <= runsMax
  })
}

function runsOf({ row, fires }: Turn, work: ReadonlyMap<number, Work>, now: number, ids: readonly number[]): RunRow[] {
  const idOf = (name: LiveName) => ('runId' in name ? name.runId : (ids[name.fire] as number))
  return fires.map((fire, index) => {
    const { at, version, state, unmeasured, calendars, spread, trail, source } = fire.decision
    return runOf(row, work.get(row.id) as Work, now, {
      id: ids[index] as number,
      occurrenceAt: fire.plannedAt,
      dueAt: fire.dueAt,
      source,
      notBefore: fire.notBefore,
      lateAfter: fire.lateAfter,
      waitsFor: fire.behind === null ? null : idOf(fire.behind),
      decision: { at, version, state, unmeasured, calendars, spread, trail },
    })
  })
}

interface Places {
  readonly work: ReadonlyMap<number, Work>
  readonly held: ReadonlySet<number>
  readonly asked: ReadonlySet<RunRow>
}

/**
 * Writes runs and gives each its place; those of held schedules go aside, and runs that need a person's decision are
 * parked. Returns the runs that did not exist before.
 */
function* makeRuns(
  context: StoreContext,
  now: number,
  runs: readonly RunRow[],
  { work, held, asked }: Places,
): Step<Set<number>> {
  const written = yield* writeRuns(runs, { context, now, over: 'made' })
  yield* setAside(
    [...asked]
      .filter(({ id }) => written.has(id))
      .map((row) => ({ standing: arrivalOf(row).standing, kind: 'parked', at: now, reason: missedReason })),
  )
  const made = runs.filter((row) => written.has(row.id) && !asked.has(row))
  yield* listLiveRuns(made.map(({ ns, scheduleId, id }) => ({ ns, scheduleId: scheduleId as number, id })))
  yield* admit(
    now,
    made.map((row) => ({
      keyLimit: work.get(row.scheduleId as number)?.queue.policy?.maxConcurrentPerKey ?? null,
      ...arrivalOf(row),
      kept: held.has(row.scheduleId as number) ? 'held' : row.waitsFor === null ? null : 'overlap',
    })),
  )
  return written
}

function entriesOf(turn: Turn, runs: readonly RunRow[], written: ReadonlySet<number>): LedgerEntry[] {
  const { row, passed, skips, fires } = turn
  const idOf = (name: LiveName | null) => {
    return name === null ? null : 'runId' in name ? name.runId : (runs[name.fire]?.id ?? null)
  }
  const ended = [
    ...passed.map((one) => passedEntry(row, one)),
    ...skips.map((skip) => passedEntry(row, skip, idOf(skip.causedBy))),
  ]
  const fired = fires.flatMap((fire, index) => {
    const runId = runs[index]?.id
    return runId === undefined || !written.has(runId) ? [] : [firedEntry(row, fire, runId)]
  })
  return [...ended, ...fired].sort((a, b) => a.from - b.from)
}

function firedEntry({ ns, id: scheduleId }: ScheduleRow, fire: Fire, runId: number): LedgerEntry {
  const { plannedAt, decision, isAsked } = fire
  const outcome = isAsked === true ? askedOutcome : 'fired'
  const alone = { from: plannedAt, to: plannedAt, count: 1, countIsAtLeast: false }
  return { ns, scheduleId, outcome, runId, causedBy: null, decision, ...alone }
}

function reportOf(
  turns: readonly Turn[],
  batches: ReadonlyMap<Turn, readonly RunRow[]>,
  written: ReadonlySet<number>,
): Pick<Fired, 'runs' | 'skipped'> {
  const runs = turns.flatMap((turn) => {
    const made = (batches.get(turn) ?? []).filter(({ id }) => written.has(id))
    return made.map(({ id, occurrenceAt, source }) => {
      const asked = turn.fires[0]?.isAsked === true ? { isAsked: true as const } : {}
      const fired = { schedule: turn.row.name, occurrenceAt: occurrenceAt as number, source }
      return { id: formatId('run', id), ...fired, ...asked }
    })
  })
  const skipped = turns.flatMap(({ row, passed, skips }) => {
    return [...passed, ...skips].map(({ from, count, countIsAtLeast, outcome }) => {
      return { schedule: row.name, from, count, ...(countIsAtLeast && { countIsAtLeast }), reason: outcome }
    })
  })
  return { runs, skipped }
}
