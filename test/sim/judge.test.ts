import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Ground } from '../../sim/ground.ts'
import { Books } from '../../sim/invariants/books.ts'
import type { Runs } from '../../sim/invariants/runs.ts'
import { Witness } from '../../sim/witness.ts'
import { World } from '../../sim/world.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import { promptSpread } from '../../src/core/timing/spread.ts'
import type { Store } from '../../src/store/port.ts'
import { putSchedule } from '../../src/store/schedules/put-schedule.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import type { Attempt } from '../../src/targets/attempt.ts'

const actor = { name: 'somebody', door: 'test' }
const createdAt = Date.UTC(2026, 6, 14, 9, 58, 30, 58)
/** No calendar below has an occurrence at this instant. */
const editedAt = createdAt + 2_188

let ground: Ground

beforeEach(async () => {
  ground = await Ground.lay()
})

afterEach(() => {
  vi.restoreAllMocks()
  ground.close()
})

describe('the books', () => {
  const everyFiveSeconds = { cron: '*/5 * * * * *', zone: 'UTC' }
  const everyTwenty = { cron: '*/20 * * * * *', zone: 'UTC' }
  const everyMinute = { cron: '*/1 * * * *', zone: 'UTC' }
  let now: number
  let store: Store
  let books: Books

  beforeEach(() => {
    now = createdAt
    store = ground.store({ now: () => now, monotonic: () => now })
    books = new Books(ground.handle)
  })

  /** Does something to the store and lets the books judge it. */
  async function judged<Answer>(verb: string, work: Promise<Answer>): Promise<Answer> {
    const answer = await work
    const by = { name: 'test', isGone: false, workerIds: new Set<number>() }
    books.apply({ verb, args: [], by, now, at: now, changes: ground.changes.take() })
    return answer
  }

  const put = (spec: Pick<ScheduleSpec, 'timing' | 'startAt' | 'spread'>) => {
    const whole = { name: 'dusk', target: { handler: 'first' }, ...spec }
    return judged('putSchedule', store.do(putSchedule, whole, { mode: 'put', actor }))
  }
  const fire = () => judged('fireDue', store.fireDue({ limit: 10 }))

  it.each([
    ['a single instant', { timing: { at: editedAt } }],
    ['a fixed delay that starts there', { timing: { everyMs: 7_000 }, startAt: editedAt }],
  ])('at the instant of an edit %s may have its occurrence, unlike the calendar before it', async (_, spec) => {
    await put({ timing: everyFiveSeconds })
    now = editedAt
    await put(spec)
    expect((await fire()).runs).toMatchObject([{ occurrenceAt: editedAt }])
  })

  it.each([
    ['a calendar', { timing: everyTwenty }],
    ['a single instant that is still to come', { timing: { at: editedAt + 5_000 } }],
    ['a fixed delay that starts later', { timing: { everyMs: 7_000 }, startAt: editedAt + 5_000 }],
  ])('at the instant of an edit %s has no occurrence, and one that the store makes up is caught', async (_, spec) => {
    await put({ timing: everyFiveSeconds })
    now = editedAt
    await put(spec)
    ground.handle.exec('update schedule set next_run_at = updated_at, next_due_at = updated_at, wake_at = updated_at')
    await expect(fire()).rejects.toThrow(/an occurrence lies on the grid of its schedule/)
  })

  it('a calendar instant at which an interval hint expires is missed where the store passes it by', async () => {
    await put({ timing: everyFiveSeconds })
    const expiresAt = Date.UTC(2026, 6, 14, 9, 59, 40)
    const words = { reason: 'a test', author: 'tester' }
    await judged('hint', store.do(setHint, 'dusk', { kind: 'interval', ms: 600_000, expiresAt, ...words }))
    now = expiresAt
    const laterAt = expiresAt + 5_000
    const passes = `update schedule set hints = '{}', next_run_at = ${laterAt}, next_due_at = ${laterAt}, wake_at = ${laterAt}`
    await judged('fireDue', Promise.resolve(ground.handle.exec(passes)))
    ground.handle.exec(`update schedule set next_decision = replace(next_decision, 'interval-hint', 'baseline')`)
    now = laterAt
    await expect(fire()).rejects.toThrow(/every nominal occurrence has an end/)
  })

  it('an occurrence that is spread has its end once it was due, and not before', async () => {
    await put({ timing: everyMinute, spread: promptSpread })
    const [schedule] = books.schedules.records.values()
    if (schedule === undefined) throw new Error('there is no schedule')
    const nominalAt = Date.UTC(2026, 6, 14, 9, 59)
    books.schedules.demandFired(schedule, nominalAt + 5_999)
    expect(() => books.schedules.demandFired(schedule, nominalAt + 6_000)).toThrow(/has an end/)
  })
})

describe('when the store comes back', () => {
  it('an end that could not be written meanwhile has its time from then on, and no longer', () => {
    const world = new World(1, ground)
    const { people, timeline, luck } = world
    const broke = vi.spyOn(world, 'broke')
    const run = { outcomes: new Map(), definition: { repeatable: 1 } }
    const witness = new Witness(world, { byText: () => run } as unknown as Runs)
    const lease = { runId: 'r-1', fence: 1 }
    witness.renewed(
      people,
      [{ ...lease, renewed: true, expiresAt: 1, cancelRequestedAt: null, releaseRequestedAt: null }],
      0,
    )
    witness.stopped(witness.began(people, lease as Attempt), 'timeout')

    luck.awayUntil = 600_000
    timeline.now = 300_000
    witness.judge()
    luck.comeBack()
    witness.judge()
    expect(broke).not.toHaveBeenCalled()

    timeline.now = 400_000
    witness.judge()
    expect(broke.mock.calls).toMatchObject([[{ invariant: 'what does not stop is left behind' }]])
    world.leave()
  })
})
