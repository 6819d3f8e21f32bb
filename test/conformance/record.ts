import assert from 'node:assert/strict'
import type { Lease, Store } from '../../src/store/port.ts'
import { findRun } from '../../src/store/reads/find-run.ts'
import type { Row } from '../../src/store/statement.ts'
import type { Stage } from './place.ts'

/** What the store has written down, looked at past the port. */
const tables = {
  ready: 'run_id',
  aside: 'run_id',
  lease: 'run_id',
  attempt: 'run_id, fence',
  result: 'run_id',
  output: 'run_id, fence, seq',
  dedupe: 'ns, key',
  idempotency: 'ns, key',
  schedule: 'id',
  schedule_run: 'schedule_id, run_id',
  ledger: 'schedule_id, from_at',
} as const

/** Everything that a refused step must have left as it was. */
export async function snapshot(stage: Stage): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {}
  for (const [table, order] of Object.entries(tables)) {
    rows[table] = await stage.sql(`select * from belfry.${table} order by ${order}`)
  }
  return rows
}

export async function count(stage: Stage, from: string): Promise<number> {
  const [row] = await stage.sql(`select count(*) as found from ${from}`)
  return Number(row?.found)
}

/** Law 14: whatever happened, each run is in line, aside, leased or ended, and in one of them only. */
export async function assertEachRunStandsOnce(stage: Stage): Promise<void> {
  const astray = await stage.sql(`select run_id, sum(places) as places from (
      select id as run_id, 0 as places from belfry.run
      union all select run_id, 1 from belfry.ready
      union all select run_id, 1 from belfry.aside
      union all select run_id, 1 from belfry.lease
      union all select run_id, 1 from belfry.attempt where ends is not null
    ) as stands group by run_id having sum(places) <> 1`)
  assert.deepEqual(astray, [], 'runs that stand nowhere, or in several places')
}

/** Ends leases well, as their holder would. */
export async function succeed(store: Store, leases: readonly Lease[]): Promise<void> {
  const outcome = { kind: 'success' } as const
  await store.settle(leases.map(({ runId, fence, scheduleId }) => ({ runId, fence, scheduleId, outcome })))
}

export async function statusOf(store: Store, runId: string): Promise<string | undefined> {
  return (await store.look(findRun, runId))?.status
}

/** The same in another order, the same order for the same numbers. */
export function shuffled<Item>(items: readonly Item[], random: (below: number) => number): Item[] {
  const mixed = [...items]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = random(last + 1)
    ;[mixed[last], mixed[other]] = [mixed[other] as Item, mixed[last] as Item]
  }
  return mixed
}

export function inBatches<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, batch) =>
    items.slice(batch * size, (batch + 1) * size),
  )
}
