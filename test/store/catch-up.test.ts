import { expect, it } from 'vitest'
import type { Turn } from '../../src/core/schedule/turn.ts'
import { listRuns } from '../../src/store/reads/list-runs.ts'
import { spreadCatchUp } from '../../src/store/schedules/catch-up.ts'
import type { ScheduleRow } from '../../src/store/schedules/schedule-row.ts'
import type { Row, Step } from '../../src/store/statement.ts'
import type { RunView } from '../../src/store/views.ts'
import { onEachDatabase } from './scene.ts'
import { hour, minute, onEachStore, type Stage, second, startAt } from './schedule-stage.ts'

const names = ['a', 'b', 'c', 'd', 'e', 'f']
const minutely = { cron: '* * * * *', zone: 'UTC' }
/** Late enough to be missed. */
const lateAt = startAt + hour + 5 * minute

/** When each of the newest runs may start, after the instant at which it was made. */
async function delays(stage: Stage, count: number): Promise<number[]> {
  const { runs } = await stage.store.look(listRuns, { limit: count })
  const views = await Promise.all(runs.map(({ id }) => stage.run(id)))
  return views.map(({ notBefore, enqueuedAt }: RunView) => (notBefore ?? enqueuedAt) - enqueuedAt)
}

onEachStore('catching up is spread over all schedules of a queue, so that it is no stampede', (stage) => {
  it('six schedules that were missed together do not start in the same millisecond', async () => {
    for (const name of names) await stage().put({ name })
    await stage().fireAt(lateAt)
    const shares = await delays(stage(), 6)
    expect(new Set(shares).size).toBe(6)
    for (const share of shares) expect(share).toBeLessThan(30 * second)
    expect(Math.max(...shares)).toBeGreaterThan(5 * second)
    expect((await stage().lease()).length).toBeLessThan(6)
  })

  it('three that were missed start at once, and so do those of another queue', async () => {
    for (const name of names) await stage().put({ name, queue: name < 'd' ? 'left' : 'right' })
    await stage().fireAt(lateAt)
    expect(await delays(stage(), 6)).toEqual([0, 0, 0, 0, 0, 0])
  })

  it('what is on time starts at once while others are caught up with', async () => {
    for (const name of names) await stage().put({ name })
    await stage().put({ name: 'punctual', timing: { cron: '5 * * * *', zone: 'UTC' } })
    const { runs } = await stage().fireAt(lateAt)
    const punctual = runs.find(({ schedule, occurrenceAt }) => schedule === 'punctual' && occurrenceAt === lateAt)
    expect((await stage().run(punctual?.id)).notBefore).toBe(null)
  })

  it('however few of them each step fires', async () => {
    for (const name of names) await stage().put({ name })
    stage().to(lateAt)
    for (let step = 0; step < 6; step++) await stage().fire(1)
    const shares = await delays(stage(), 6)
    expect(shares.filter((share) => share > 0).length).toBeGreaterThanOrEqual(5)
    expect(new Set(shares).size).toBeGreaterThanOrEqual(5)
  })

  it('when several workers fire them at the same moment', async () => {
    for (const name of names) await stage().put({ name })
    stage().to(lateAt)
    await Promise.all([1, 2, 3].map(() => stage().fire(2)))
    await stage().fire()
    const shares = await delays(stage(), 6)
    expect(shares).toHaveLength(6)
    expect(shares.filter((share) => share > 0).length).toBeGreaterThanOrEqual(5)
  })

  it('steps that fire one queue each see what the others have left of theirs, and no queue counts for another', async () => {
    for (const name of names) await stage().put({ name, queue: name < 'e' ? 'many' : 'few' })
    stage().to(lateAt)
    for (let step = 0; step < 6; step++) await stage().fire(1)
    const { runs } = await stage().store.look(listRuns, { limit: 6 })
    const views = await Promise.all(runs.map(({ id }) => stage().run(id)))
    expect(views.filter(({ queue, notBefore }) => queue === 'few' && notBefore !== null)).toEqual([])
    expect(views.filter(({ queue, notBefore }) => queue === 'many' && notBefore !== null).length).toBeGreaterThan(2)
  })

  it('a share never makes an occurrence too late to start', async () => {
    for (const name of names) await stage().put({ name, maxLatenessMs: 5 * minute })
    await stage().fireAt(lateAt)
    for (const delay of await delays(stage(), 6)) expect(delay).toBe(0)
  })
})

onEachDatabase('a step that catches up', (scene) => {
  /** The statements that a step asks about the catch-up of that many queues, each with one schedule that was missed. */
  async function statements(queues: number): Promise<string[]> {
    const turns = Array.from({ length: queues }, (_, index) => missedTurn(index + 1))
    const names: string[] = []
    await scene().write(() => watched(spreadCatchUp(lateAt, turns), names))
    return names
  }

  it('asks once for all queues together, however many they are', async () => {
    expect(await statements(50)).toEqual(await statements(1))
    expect((await statements(50)).length).toBe(2)
  })
})

/** As much of a turn as the spread looks at. */
function missedTurn(id: number): Turn<ScheduleRow> {
  return { row: { id, queueId: id, knownWakeAt: null }, fires: [{ isMissed: true }] } as unknown as Turn<ScheduleRow>
}

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

onEachStore('missed: all', (stage) => {
  it('makes up the newest hundred, and the ledger counts those that the cap leaves out', async () => {
    await stage().put({ timing: minutely, missed: 'all' })
    const { runs } = await stage().fireAt(startAt + 150 * minute)
    expect([runs.length, runs[0]?.occurrenceAt]).toEqual([100, startAt + 51 * minute])
    expect(await stage().sql(`select from_at, to_at, count from belfry.ledger where outcome = 'missed'`)).toEqual([
      { from_at: startAt + minute, to_at: startAt + 50 * minute, count: 50 },
    ])
  })

  it('under overlap: queue an occurrence that is on time is not pushed out by a hundred that wait', async () => {
    await stage().put({ timing: minutely, missed: 'all' })
    await stage().fireAt(startAt + 150 * minute)
    for (const minutes of [151, 152]) {
      const { runs } = await stage().fireAt(startAt + minutes * minute)
      expect(runs).toMatchObject([{ occurrenceAt: startAt + minutes * minute }])
    }
  })

  it('under overlap: queue with room for one, the one that is on time waits behind the first that was missed', async () => {
    await stage().put({ timing: minutely, missed: 'all', queueMax: 1 })
    const { runs } = await stage().fireAt(startAt + 5 * minute)
    expect(runs.map(({ occurrenceAt }) => occurrenceAt)).toEqual([startAt + minute, startAt + 5 * minute])
    expect((await stage().fireAt(startAt + 6 * minute)).runs).toEqual([])
    expect((await stage().ledger()).at(-1)).toMatchObject({ from: startAt + 6 * minute, outcome: 'overlap' })
  })
})
