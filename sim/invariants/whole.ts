import type { SqliteHandle } from '../../src/store/sqlite/driver.ts'
import type { Books } from './books.ts'
import { demand } from './breach.ts'
import { isLive, type RunRecord, standingOf } from './run-record.ts'

/** Looks at everything: that the books agree with the store, and that nobody waits for what will not come. */
export function judgeWhole(handle: SqliteHandle, books: Books, now: number): void {
  const runs = [...books.runs.records.values()].filter(({ isPruned }) => !isPruned)
  judgeCounts(handle, books, runs)
  judgeLists(handle, books, runs)
  for (const run of runs) judgeRun(books, run, now)
  for (const id of books.schedules.records.keys()) books.schedules.judge(id)
}

function idsOf(handle: SqliteHandle, text: string): Set<number> {
  return new Set((handle.prepare(text).all() as { id: number }[]).map(({ id }) => id))
}

function judgeCounts(handle: SqliteHandle, books: Books, runs: readonly RunRecord[]): void {
  const row = handle
    .prepare(`select (select count(*) from run) as runs, (select count(*) from ready) as ready,
      (select count(*) from aside) as aside, (select count(*) from lease) as lease`)
    .get() as Record<string, number>
  const of = (kind: string) => runs.filter(({ places }) => places[0]?.kind === kind).length
  const counted = { runs: runs.length, ready: of('ready'), aside: of('aside'), lease: of('lease') }
  demand(JSON.stringify(row) === JSON.stringify(counted), 'I5 the store holds what was accepted', () => ({
    row,
    counted,
  }))
  const inFlight = [...books.queues.all()].reduce((sum, queue) => sum + queue.inFlight, 0)
  demand(inFlight === counted.lease, 'in flight is what is leased', () => ({ inFlight, counted }))
}

/** Lists beside the runs: live runs of schedules, and who holds a dedupe key. */
function judgeLists(handle: SqliteHandle, books: Books, runs: readonly RunRecord[]): void {
  const listed = idsOf(handle, 'select run_id as id from schedule_run')
  const keyed = idsOf(handle, 'select run_id as id from dedupe')
  for (const run of runs) {
    const { id, schedule_id: scheduleId, dedupe_key: dedupeKey } = run.definition
    const live = isLive(run)
    const isOrphan = scheduleId !== null && books.schedules.records.get(scheduleId)?.row.deleted_at != null
    if (scheduleId !== null && !isOrphan) {
      demand(listed.has(id) === live, 'the live runs of a schedule are listed', () => ({
        run,
        isListed: listed.has(id),
      }))
    }
    if (dedupeKey === null) continue
    // A parked run has given its key away, and whoever brings it back may find that another run has it.
    const isRight = keyed.has(id) ? live : !live || run.isBroughtBack
    demand(isRight, 'a dedupe key is held while its run is live', () => ({ run, isHeld: keyed.has(id) }))
  }
}

function judgeRun(books: Books, run: RunRecord, now: number): void {
  const told = () => ({ run, now, schedule: books.schedules.records.get(run.definition.schedule_id ?? 0) })
  demand(standingOf(run) !== null, 'a run stands in one place', told)
  const [place] = run.places
  if (place?.kind !== 'aside') return
  if (place.row.kind === 'held') {
    const row = books.schedules.records.get(run.definition.schedule_id ?? 0)?.row
    const isKept = row !== undefined && (row.disabled_at !== null || row.paused_until !== null || row.held_by !== null)
    demand(isKept, 'a run is held only while its schedule is paused or held', told)
  }
  if (place.row.kind === 'overlap') demand(hasOneAhead(books, run), 'a run behind others has somebody ahead', told)
  const isKeyHeld = books.holds.on(books.heldOf(run)).some(({ scope }) => scope === 'key')
  if (place.row.kind === 'key')
    demand(isKeyHeld || isGateFull(books, run), 'a run behind a gate has somebody ahead', told)
}

/** Some run of its schedule is at work, in line, or waits for an instant. */
function hasOneAhead(books: Books, run: RunRecord): boolean {
  return [...books.runs.records.values()].some((other) => {
    if (other.definition.schedule_id !== run.definition.schedule_id || !isLive(other)) return false
    const [place] = other.places
    return place?.kind !== 'aside' || place.row.kind !== 'overlap'
  })
}

function isGateFull(books: Books, run: RunRecord): boolean {
  const { queue_id: queueId, concurrency_key: key } = run.definition
  return [...books.runs.records.values()].some(({ definition, places: [place] }) => {
    if (definition.queue_id !== queueId || definition.concurrency_key !== key) return false
    return place?.kind === 'lease' || place?.kind === 'ready'
  })
}
