import { expect, test } from 'vitest'
import { migrations } from '../../src/open-store.ts'
import { settle } from '../../src/store/leases/settle.ts'
import { migrate } from '../../src/store/migrations/migrate.ts'
import { fireDue } from '../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { openSqliteMemory } from '../../src/store/sqlite/open.ts'
import type { Request, Row, Step } from '../../src/store/statement.ts'
import { actor, Scene, startAt } from './scene.ts'

/** What a step is handed the answer of before it goes on, each of which costs PostgreSQL a round trip. */
function* waitingFor<Result>(step: Step<Result>, waited: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    const request: Request = turn.value
    const rows: Row[] = yield request
    if (request.kind === 'now') waited.push('now')
    if ('statement' in request && request.way === undefined) waited.push(request.statement.name)
    turn = step.next(rows)
  }
  return turn.value
}

test('an occurrence is fired, and ends, without a wait for the answer to any plain write', async () => {
  const clock = { now: startAt }
  const database = await openSqliteMemory({ now: () => clock.now, monotonic: () => clock.now })
  await migrate(database, migrations)
  const scene = new Scene(database, clock)
  await scene.begin()
  const timing = { cron: '* * * * *', zone: 'UTC' }
  const spec = { name: 'minutely', timing, target: { handler: 'h' } }
  await scene.write((context) => putSchedule(context, spec, { mode: 'create', actor }))
  clock.now += 60_000
  const firing: string[] = []
  await scene.write((context) => waitingFor(fireDue(context, { limit: 10 }), firing))
  // A lane that nobody has used before is made first.
  expect(firing).toEqual(['fire lock oldest', 'live find busy', 'need insert', 'need find', 'run insert'])
  const [held] = await scene.lease()
  const { runId = '', fence = 0, scheduleId = null } = held ?? {}
  const ending: string[] = []
  const end = { runId, fence, scheduleId, outcome: { kind: 'success' } as const }
  await scene.write((context) => waitingFor(settle(context, [end]), ending))
  expect(ending).toEqual(['settle take leases', 'live find busy'])
  clock.now += 60_000
  const again: string[] = []
  await scene.write((context) => waitingFor(fireDue(context, { limit: 10 }), again))
  expect(again).toEqual(['fire lock oldest', 'live find busy', 'run insert'])
  await database.close()
})
