import { expect, it } from 'vitest'
import { formatId } from '../../../../src/core/id.ts'
import { putCalendar } from '../../../../src/parts/admission/calendars/write-calendar.ts'
import { lease } from '../../../../src/store/leases/lease.ts'
import { settle } from '../../../../src/store/leases/settle.ts'
import { fireDue } from '../../../../src/store/schedules/fire-due.ts'
import { putSchedule } from '../../../../src/store/schedules/put-schedule.ts'
import type { Row, Step } from '../../../../src/store/statement.ts'
import { actor, onEachDatabase } from '../../../store/scene.ts'

const hour = 3_600_000
const spec = { name: 'digest', timing: { cron: '0 * * * *', zone: 'UTC' }, target: { handler: 'report' } }

/** The same step, with the names of its statements noted as it goes. */
function* watched<Result>(step: Step<Result>, names: string[]): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    if ('statement' in turn.value) names.push(turn.value.statement.name)
    const rows: Row[] = yield turn.value
    turn = step.next(rows)
  }
  return turn.value
}

onEachDatabase('what calendars cost', (scene) => {
  const can = { kinds: ['handler'] }
  let claims = 0

  /** The statements by which the schedule fires, and its run is leased and ends. */
  async function round(): Promise<string[]> {
    const names: string[] = []
    scene().clock.now += hour
    await scene().write((context) => watched(fireDue(context, { limit: 10 }), names))
    const asked = {
      queue: 'default',
      workerId: formatId('worker', 1),
      claimId: `cost ${++claims} ${scene().context.ns}`,
      can,
      limit: 10,
    }
    const { leases } = await scene().write((context) => watched(lease(context, asked), names))
    const [{ runId, fence, scheduleId } = { runId: '', fence: 0, scheduleId: null }] = leases
    const end = { runId, fence, scheduleId, outcome: { kind: 'success' } as const }
    await scene().write((context) => watched(settle(context, [end]), names))
    return names
  }

  const put = (options: Readonly<Record<string, unknown>>) =>
    scene().write((context) => putSchedule(context, { ...spec, options }, { mode: 'put', actor }))

  it('is nothing without them, and nothing for a schedule that follows one: its hours are in its row', async () => {
    await put({})
    await round()
    const before = await round()
    expect(before.filter((name) => /calendar|closing/.test(name))).toEqual([])
    const hours = { zone: 'UTC', open: ['mon-sun 00:00-23:00'] }
    await scene().write((context) => putCalendar(context, { name: 'office', hours }, { actor }))
    await put({ calendar: ['office'] })
    await round()
    expect(await round()).toEqual(before)
  })
})
