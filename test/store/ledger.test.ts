import { expect, it } from 'vitest'
import { finishEntries } from '../../src/store/schedules/ledger.ts'
import { onEachStore, startAt } from './schedule-stage.ts'

onEachStore('the ledger', (stage, kind) => {
  // SQLite plans a statement once for all, and has one index to choose.
  it.runIf(kind === 'postgres').each([
    ['has never been counted', false, 0],
    ['is small', true, 100],
    ['is long', true, 5_000],
  ])('finds the end of an occurrence by its whole key, when it %s', async (_, isCounted, rows) => {
    await stage().sql(`insert into belfry.ledger (ns, schedule_id, from_at, to_at, count, outcome, recorded_at, ended_at)
      select 1, 1, n, n, 1, 'completed', ${startAt}, ${startAt} from generate_series(1, ${rows}) n`)
    if (isCounted) await stage().sql('analyze belfry.ledger')
    const many = `{${Array.from({ length: 500 }, (_, index) => index + 1).join()}}`
    for (const how of ['explain', 'explain (generic_plan)']) {
      const plan = await stage().sql(`${how} ${finishEntries.postgres}`, many, many, many, many)
      const text = plan.map((row) => row['QUERY PLAN']).join('\n')
      const probe = /Index Scan using ledger_pkey.*\n.*Index Cond: \(\(schedule_id = i.schedule_id\) AND \(from_at = /
      expect(text).toMatch(probe)
      expect(text.match(/Scan using ledger_pkey/g)).toHaveLength(1)
    }
  })
})
