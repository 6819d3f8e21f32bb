import assert from 'node:assert/strict'
import type { Store } from '../../src/store/port.ts'
import { repair } from '../../src/store/schedules/repair.ts'
import type { Row } from '../../src/store/statement.ts'
import type { Stage } from './place.ts'

const minute = 60_000

/** What must be true of all schedules whenever nobody is in the middle of a step. */
export async function assertChainsWhole(stage: Stage, store: Store): Promise<void> {
  await assertWoken(stage)
  assert.deepEqual(await store.do(repair, { limit: 1_000 }), [], 'something had to be mended')
  await assertNothingOfDeleted(stage)
  await assertNothingOfPaused(stage)
  await assertLiveRunsListed(stage)
  await assertOneAtWork(stage)
  await assertEachOccurrenceOnce(stage)
}

/** Law 2: an active schedule has an instant, or a live run whose end gives it one; or the governor said that it is done. */
async function assertWoken(stage: Stage): Promise<void> {
  const asleep = await stage.sql(`select s.name, s.next_decision from belfry.schedule s
    where s.deleted_at is null and s.disabled_at is null and s.wake_at is null
      and not exists (select 1 from belfry.schedule_run r where r.schedule_id = s.id and r.run_id = s.waits_for)`)
  const broken = asleep.filter(({ next_decision: text }) => {
    return text === null || JSON.parse(text as string).source !== 'none'
  })
  assert.deepEqual(broken, [], 'schedules that nothing will ever wake')
}

/** Law 11: what a deleted schedule had not begun is over. */
async function assertNothingOfDeleted(stage: Stage): Promise<void> {
  const left = await stage.sql(`select d.id, d.source, p.place from (
      select run_id, 'in line' as place from belfry.ready
      union all select run_id, kind from belfry.aside where kind <> 'parked') p
    join belfry.run d on d.id = p.run_id join belfry.schedule s on s.id = d.schedule_id
    where s.deleted_at is not null`)
  assert.deepEqual(left, [], 'runs of deleted schedules that still wait to be started')
}

/** While a schedule is paused none of its runs can start; and nothing is held without a pause. */
async function assertNothingOfPaused(stage: Stage): Promise<void> {
  const now = stage.clock.now()
  const startable = await stage.sql(`select s.name, p.run_id, p.place from (
      select run_id, 'in line' as place from belfry.ready union all select run_id, kind from belfry.aside) p
    join belfry.run d on d.id = p.run_id join belfry.schedule s on s.id = d.schedule_id
    where p.place not in ('held', 'parked') and s.deleted_at is null
      and (s.disabled_at is not null or s.paused_until > ${now})`)
  assert.deepEqual(startable, [], 'runs of paused schedules that could start')
  const held = await stage.sql(`select s.name, a.run_id from belfry.aside a join belfry.run d on d.id = a.run_id
    join belfry.schedule s on s.id = d.schedule_id
    where a.kind = 'held' and s.disabled_at is null and s.paused_until is null`)
  assert.deepEqual(held, [], 'runs that are held although their schedule is not paused')
}

/** Overlap, pause and delete find the live runs of a schedule in one list, which must be right. */
async function assertLiveRunsListed(stage: Stage): Promise<void> {
  const wrong = await stage.sql(`select run_id, sum(live) as live, sum(listed) as listed from (
      select run_id, 1 as live, 0 as listed from belfry.ready
      union all select run_id, 1, 0 from belfry.aside where kind <> 'parked'
      union all select run_id, 1, 0 from belfry.lease
      union all select run_id, 0, 1 from belfry.schedule_run) l
    join belfry.run d on d.id = l.run_id where d.schedule_id is not null
    group by run_id having sum(live) <> sum(listed)`)
  assert.deepEqual(wrong, [], 'live runs that are not listed with their schedule, or ended ones that are')
}

/** Of a schedule whose runs may not overlap one is at work, and the others stand behind it. */
async function assertOneAtWork(stage: Stage): Promise<void> {
  const rows = await stage.sql(`select s.id, s.name, s.spec, count(*) as at_work from (
      select run_id from belfry.ready
      union all select run_id from belfry.lease
      union all select run_id from belfry.aside where kind in ('waiting', 'key')) p
    join belfry.run d on d.id = p.run_id join belfry.schedule s on s.id = d.schedule_id
    group by s.id, s.name, s.spec having count(*) > 1`)
  const overlapping = rows.filter(({ spec }) => JSON.parse(spec as string).overlap !== 'allow')
  assert.deepEqual(overlapping, [], 'schedules of which several runs are at work')
}

interface LedgerRow {
  readonly from: number
  readonly to: number
  readonly count: number
  readonly runId: number | null
  readonly endedAt: number | null
}

/** Laws 1 and 2: each nominal occurrence has one entry, which ends when its run does and not before. */
async function assertEachOccurrenceOnce(stage: Stage): Promise<void> {
  const twice = await stage.sql(`select schedule_id, occurrence_at from belfry.run where occurrence_at is not null
    group by schedule_id, occurrence_at having count(*) > 1`)
  assert.deepEqual(twice, [], 'occurrences with several runs')
  const unrecorded = await stage.sql(`select d.id from belfry.run d where d.occurrence_at is not null and not exists (
    select 1 from belfry.ledger l where l.schedule_id = d.schedule_id and l.from_at = d.occurrence_at and l.run_id = d.id)`)
  assert.deepEqual(unrecorded, [], 'runs of occurrences that the ledger does not know')
  const misjudged = await stage.sql(`select l.schedule_id, l.from_at, l.outcome from belfry.ledger l
    left join belfry.schedule_run r on r.schedule_id = l.schedule_id and r.run_id = l.run_id
    where (l.ended_at is null) <> (r.run_id is not null)`)
  assert.deepEqual(misjudged, [], 'entries that ended before their run, or did not end with it')
  for (const row of await stage.sql('select * from belfry.schedule')) {
    assertDisjoint(row, await ledgerOf(stage, row.id as number))
  }
}

async function ledgerOf(stage: Stage, id: number): Promise<LedgerRow[]> {
  const rows = await stage.sql(`select * from belfry.ledger where schedule_id = ${id} order by from_at`)
  return rows.map((row) => ({
    from: row.from_at as number,
    to: row.to_at as number,
    count: row.count as number,
    runId: row.run_id as number | null,
    endedAt: row.ended_at as number | null,
  }))
}

function assertDisjoint({ name, last_planned_at: lastPlannedAt }: Row, entries: readonly LedgerRow[]): void {
  let last = Number.NEGATIVE_INFINITY
  for (const entry of entries) {
    assert.ok(
      entry.from > last && entry.to >= entry.from,
      `${name} has entries that overlap: ${JSON.stringify(entries)}`,
    )
    assert.equal(entry.count === 1, entry.from === entry.to, `${name} miscounts ${JSON.stringify(entry)}`)
    last = entry.to
  }
  if (entries.length > 0)
    assert.equal(last, lastPlannedAt, `${name} has planned something that the ledger does not know`)
}

/** Of schedules that ran every minute all their lives, every minute since their creation has its one end. */
export async function assertNoMinuteMissing(stage: Stage, names: string): Promise<void> {
  const rows = await stage.sql(
    `select * from belfry.schedule where name like '${names}' and last_planned_at is not null`,
  )
  for (const row of rows) {
    const first = (Math.floor((row.created_at as number) / minute) + 1) * minute
    const expected = ((row.last_planned_at as number) - first) / minute + 1
    const entries = await ledgerOf(stage, row.id as number)
    const counted = entries.reduce((sum, { count }) => sum + count, 0)
    assert.deepEqual([entries[0]?.from, counted], [first, expected], `${row.name}: ${JSON.stringify(entries)}`)
  }
}
