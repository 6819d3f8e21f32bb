import { expect, it } from 'vitest'
import { parts } from '../../src/parts.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { databaseOf } from '../../src/store/sql-store.ts'
import type { Request, Row, Step } from '../../src/store/statement.ts'
import { minute, onEachStore, startAt } from './schedule-stage.ts'

/** The step, to which the second look for due schedules also answers what the first one found. */
function* foundTwice<Result>(step: Step<Result>): Step<Result> {
  let oldest: Row[] = []
  let turn = step.next()
  while (!turn.done) {
    const rows: Row[] = yield turn.value
    const name = nameOf(turn.value)
    if (name === 'fire lock oldest') oldest = rows
    turn = step.next(name === 'fire lock newest' ? [...oldest, ...rows] : rows)
  }
  return turn.value
}

function nameOf(request: Request): string {
  return 'statement' in request ? request.statement.name : ''
}

onEachStore('a schedule that was moved while it was looked for', (stage) => {
  it('is found by both looks and fired once: none of its instants is counted twice', async () => {
    // All of them are missed and become one row, to which a second turn would add them again.
    const everyOther = { timing: { cron: '*/2 * * * *', zone: 'UTC' }, missed: 'skip' } as const
    for (const name of ['a', 'b', 'c', 'd']) await stage().put({ name, ...everyOther })
    stage().to(startAt + 5.5 * minute)
    const context = { ns: 1, namespace: 'default', defaultMaxConcurrent: 50, parts, policies: null }
    await databaseOf(stage().store).write(() => foundTwice(fireDue(context, { limit: 4 })))
    for (const name of ['a', 'b', 'c', 'd']) {
      const rows = await stage().ledger(name)
      expect(
        rows.reduce((sum, { count }) => sum + count, 0),
        name,
      ).toBe(2)
    }
  })
})
