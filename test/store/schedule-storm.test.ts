import { expect, it } from 'vitest'
import { cron } from '../../src/core/cron/cron.ts'
import type { Lease } from '../../src/store/port.ts'
import { listLedger } from '../../src/store/reads/find-schedule.ts'
import { pauseSchedule, resumeSchedule } from '../../src/store/schedules/pause-schedule.ts'
import { repair } from '../../src/store/schedules/repair.ts'
import { runNow } from '../../src/store/schedules/run-now.ts'
import { setHint } from '../../src/store/schedules/set-hint.ts'
import { hour, hourly, minute, onEachStore, type Stage, startAt } from './schedule-stage.ts'

/** Numbers that look random and are the same in every run. */
function dice(seed: number) {
  let state = seed
  return (sides: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * sides)
  }
}

const broken = { kind: 'failed', reason: 'broken', retryable: false } as const
const overlaps = ['skip', 'queue', 'allow', 'cancel'] as const

/** One step of somebody: the clock, a worker, a person or a planner. */
async function act(stage: Stage, roll: (sides: number) => number, held: Lease[], hints: boolean): Promise<void> {
  const { store, clock } = stage
  switch (roll(12)) {
    case 0: {
      const until = clock.now + roll(300) * minute + 1
      await store.do(pauseSchedule, 'report', { reason: 'r', ...(roll(2) === 0 && { until }) })
      break
    }
    case 1:
    case 2:
      await store.do(resumeSchedule, 'report')
      break
    case 3:
      await store.do(runNow, 'report', { force: roll(3) === 0 })
      break
    case 4:
    case 5:
      held.push(...(await stage.lease(1 + roll(2))))
      break
    case 6:
    case 7: {
      const [lease] = held.splice(roll(held.length || 1), 1)
      const outcomes = [{ kind: 'success' }, { kind: 'failed', reason: 'x' }, broken] as const
      if (lease !== undefined) await stage.end(lease, outcomes[roll(3)])
      break
    }
    case 8:
      await stage.put({ priority: roll(3), overlap: overlaps[roll(4)], maxLatenessMs: 90 * hour })
      break
    case 9:
      if (hints) await suggest(stage, roll)
      break
    default:
      stage.pass(roll(90) * minute)
      while ((await stage.fire(10)).more);
  }
}

async function suggest({ store, clock }: Stage, roll: (sides: number) => number): Promise<void> {
  const at = clock.now + roll(90) * minute
  const words = { expiresAt: at + (1 + roll(60)) * minute, reason: 'r', author: 'a' }
  if (roll(2) === 0) await store.do(setHint, 'report', { kind: 'oneshot', at, ...words })
  else await store.do(setHint, 'report', { kind: 'interval', ms: (1 + roll(90)) * minute, ...words })
}

/** Every live run stands in exactly one place, and every schedule has something to wait for. */
async function expectOrder(stage: Stage) {
  const lost = await stage.sql(`select s.run_id from belfry.schedule_run s where 1 <>
    (select count(*) from belfry.ready r where r.run_id = s.run_id)
    + (select count(*) from belfry.aside a where a.run_id = s.run_id)
    + (select count(*) from belfry.lease l where l.run_id = s.run_id)`)
  expect(lost).toEqual([])
  expect(await stage.store.do(repair, { limit: 10 })).toEqual([])
  const { wakeAt, waitsFor, disabled } = await stage.view()
  if (disabled === null) expect(wakeAt ?? waitsFor).not.toBeNull()
}

onEachStore('a storm of steps', (stage, kind) => {
  // PostgreSQL takes its time for every commit; that the verbs are the same on both is what the other files show.
  const seeds = kind === 'memory' ? [1, 2, 3, 4, 5, 6, 7, 8] : [1]

  it.each(seeds)('every occurrence of the calendar has exactly one end (seed %i)', async (seed) => {
    const roll = dice(seed)
    const held: Lease[] = []
    await stage().put({})
    for (let step = 0; step < 150; step++) {
      await act(stage(), roll, held, false)
      await expectOrder(stage())
    }
    await stage().store.do(resumeSchedule, 'report')
    while ((await stage().fire(10)).more);
    const { lastPlannedAt } = await stage().view()
    const calendar = cron(hourly.cron, hourly.zone)
    const expected: number[] = []
    for (let at = calendar.next(startAt); at !== null && at <= (lastPlannedAt ?? 0); at = calendar.next(at))
      expected.push(at)
    const covered = (await stage().store.look(listLedger, 'report', { limit: 1_000 }))
      .reverse()
      .flatMap(({ from, to, count }) => {
        const listed = expected.filter((at) => at >= from && at <= to)
        expect(listed).toHaveLength(count)
        return listed
      })
    expect(covered).toEqual(expected)
    expect(expected.length).toBeGreaterThan(10)
  })

  it.each(seeds)('hints and fixed delays never break the chain (seed %i)', async (seed) => {
    const roll = dice(seed)
    const held: Lease[] = []
    await stage().put({ timing: { everyMs: 30 * minute } })
    for (let step = 0; step < 150; step++) {
      await act(stage(), roll, held, true)
      await expectOrder(stage())
      if (roll(20) === 0)
        await stage().put({ timing: roll(2) === 0 ? hourly : { everyMs: (1 + roll(3)) * 20 * minute } })
    }
    expect((await stage().ledger()).length).toBeGreaterThan(5)
  })
})
