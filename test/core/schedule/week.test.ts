import { expect, it } from 'vitest'
import { afterEnds } from '../../../src/core/schedule/after-ends.ts'
import { afterFire } from '../../../src/core/schedule/after-fire.ts'
import { foresee } from '../../../src/core/schedule/foresee.ts'
import { planned } from '../../../src/core/schedule/next-plan.ts'
import type { ScheduleSpec } from '../../../src/core/schedule/schedule-spec.ts'
import { freshState, type ScheduleState } from '../../../src/core/schedule/state.ts'
import { takeTurn } from '../../../src/core/schedule/turn.ts'
import type { Timing } from '../../../src/core/timing/timing.ts'

const monday = Date.UTC(2026, 5, 1)
const hour = 3_600_000
const week = 7 * 24 * hour

function created(timing: Timing, rest: Partial<ScheduleSpec> = {}): ScheduleState {
  const spec = { name: 'report', target: { handler: 'report' }, timing, ...rest } as ScheduleSpec
  return planned(freshState(1, spec, monday), { now: monday, lastRunId: null })
}

/** Plays a week of one schedule whose runs take some time and end as they are told to. */
function played(
  first: ScheduleState,
  tookMs: number,
  status: 'completed' | 'failed',
): { at: number[]; row: ScheduleState } {
  const at: number[] = []
  let row = first
  while (row.wakeAt !== null && row.wakeAt < monday + week) {
    const now = row.wakeAt
    const turn = takeTurn(row, now, [])
    const made = turn.fires.map(({ plannedAt }, index) => ({ id: at.length + index + 1, occurrenceAt: plannedAt }))
    at.push(...turn.fires.map(({ plannedAt }) => plannedAt))
    const ends = made.map(({ id }) => ({ runId: id, status }))
    const counted = new Set(made.map(({ id }) => id))
    row = afterEnds(afterFire(turn, now, made), now + tookMs, { ends, counted, live: [] })
  }
  return { at, row }
}

it('a week of a cron can be played on plain data, and is what was foreseen', () => {
  const first = created({ cron: '0 9 * * 1-5', zone: 'UTC' })
  const { at } = played(first, 60_000, 'completed')
  expect(at).toEqual([0, 1, 2, 3, 4].map((day) => monday + day * 24 * hour + 9 * hour))
  const foreseen = foresee({ now: monday, schedule: first })
  expect(at.map(() => foreseen.next().value?.at)).toEqual(at)
})

it('a fixed delay counts from the end of each run, and failures back it off until the schedule is paused', () => {
  const delay: Timing = { everyMs: hour }
  expect(played(created(delay), hour, 'completed').at.slice(0, 3)).toEqual([1, 3, 5].map((n) => monday + n * hour))
  const { at, row } = played(created(delay, { pauseAfterFailures: 3 }), 0, 'failed')
  expect(at).toEqual([1, 3, 7].map((n) => monday + n * hour))
  expect(row.disabledReason).toBe('failed 3 times in a row')
})
