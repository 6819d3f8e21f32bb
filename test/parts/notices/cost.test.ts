import { describe, expect, it } from 'vitest'
import { formatId } from '../../../src/core/id.ts'
import { migrations } from '../../../src/open-store.ts'
import { noticeOverdue } from '../../../src/parts/notices/notice-overdue.ts'
import { listNotices } from '../../../src/parts/notices/read-notices.ts'
import { setNotify } from '../../../src/parts/notices/set-notify.ts'
import { parts } from '../../../src/parts.ts'
import { settle } from '../../../src/store/leases/settle.ts'
import { migrate } from '../../../src/store/migrations/migrate.ts'
import { openSqliteMemory } from '../../../src/store/sqlite/open.ts'
import { all, both, type Row, type Statement, type Step } from '../../../src/store/statement.ts'
import type { StoreContext } from '../../../src/store/store-context.ts'
import { actor, onEachDatabase, startAt } from '../../store/scene.ts'

const http = { http: { url: 'https://example.org/' } }

/** The same step, with the names of its statements noted as it goes. */
function* watched<Result>(step: Step<Result>, names: string[], statements: Statement[] = []): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    if ('statement' in turn.value) statements.push(turn.value.statement)
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

onEachDatabase('what notices cost', (scene) => {
  const everything = { onFailure: http, onPark: http, onRecover: http, onOverdue: http }

  /** The statements about notices that the end of a run takes. */
  async function statements(
    scheduleId: number | null,
    outcome: 'success' | 'failed',
    index: number,
  ): Promise<string[]> {
    const at = startAt + index
    const id = scheduleId === null ? await scene().enqueue() : await scene().occurrence(scheduleId, at)
    const { runId, fence } = await scene().leaseOf(id)
    const names: string[] = []
    const end = {
      runId,
      fence,
      scheduleId: scheduleId === null ? null : formatId('schedule', scheduleId),
      outcome:
        outcome === 'success'
          ? ({ kind: 'success' } as const)
          : ({ kind: 'failed', reason: 'x', retryable: false } as const),
    }
    await scene().write((context) => watched(settle(context, [end]), names))
    return names.filter((name) => /notice|queue|need|run insert/.test(name))
  }

  it('is nothing where a run ends well, whoever wants to know what', async () => {
    const scheduleId = await scene().schedule({ timing: {}, ...everything })
    await scene().setQueue('default', { policy: everything })
    await scene().write((context) => setNotify(context, everything, { actor }))
    expect(await statements(null, 'success', 1)).toEqual([])
    expect(await statements(scheduleId, 'success', 2)).toEqual([])
  })

  it('is one look where it does not, and nobody wants to know', async () => {
    const scheduleId = await scene().schedule()
    expect(await statements(null, 'failed', 1)).toEqual(['notice find places'])
    expect(await statements(scheduleId, 'failed', 2)).toEqual(['notice find places'])
  })
})

describe('a look at what is overdue, and at what was told', () => {
  it('goes by an index to the few that matter, however much was ever told', async () => {
    const database = openSqliteMemory({ now: () => startAt, monotonic: () => startAt })
    await migrate(database, migrations)
    await database.write(() =>
      all(both('ns', `insert into belfry.namespace (id, name, created_at) values (1, 'default', 0)`)),
    )
    const context = { ns: 1, namespace: 'default', defaultMaxConcurrent: 5, parts } as unknown as StoreContext
    const statements: Statement[] = []
    await database.write(() => watched(noticeOverdue(context, { limit: 10 }), [], statements))
    await database.write(() => watched(listNotices(context, { limit: 10 }), [], statements))
    const ways = new Map<string, string>()
    for (const { name, sqlite } of statements) {
      if (sqlite === null || !/find (late|live|over)|read notices/.test(name)) continue
      // Only the way to the rows is asked for, whatever the parameters are.
      const nulls = [...new Set(sqlite.match(/\$\d/g))].map(() => null)
      const [first] = await database.read(() => all(both(`plan of ${name}`, `explain query plan ${sqlite}`), ...nulls))
      ways.set(name, String(first?.detail).replace(/ \(.*/, ''))
    }
    expect(Object.fromEntries(ways)).toEqual({
      'notice find late': 'SEARCH s USING INDEX schedule_wake_of_namespace',
      'notice find live': 'SEARCH s USING PRIMARY KEY',
      'notice find over': 'SEARCH n USING COVERING INDEX notice_open',
      'read notices': 'SEARCH n USING INDEX notice_last',
    })
    await database.close()
  })
})
