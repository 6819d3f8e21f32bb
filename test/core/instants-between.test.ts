import { describe, expect, it } from 'vitest'
import { instantsBetween } from '../../src/core/timing/instants-between.ts'
import { gridOf, type Timing } from '../../src/core/timing/timing.ts'

const hour = 3_600_000
const day = 24 * hour

function between(timing: Timing, from: number, to: number, listMax = 1_000) {
  const grid = gridOf({ timing, gridAnchorAt: 0 })
  if (grid === null) throw new Error('it has no grid')
  return instantsBetween(grid, { from, to, listMax })
}

describe('the instants of a stretch', () => {
  it('begin with one at its very beginning and end before one at its very end', () => {
    const from = Date.UTC(2026, 0, 5)
    expect(between({ cron: '0 0 * * *', zone: 'UTC' }, from, from + 2 * day)).toEqual({
      listed: [from, from + day],
      beyond: null,
    })
    expect(between({ everyMs: hour, from: 'start' }, 5 * hour, 7 * hour).listed).toEqual([5 * hour, 6 * hour])
  })

  it('are none where the calendar has none, and where a fixed rate had not begun', () => {
    expect(between({ cron: '0 0 30 2 *', zone: 'UTC' }, 0, Date.UTC(2026, 0, 1)).listed).toEqual([])
    expect(between({ everyMs: day, from: 'start' }, 0, day).listed).toEqual([])
  })

  it('are 23 and 25 of the day on which clocks change', () => {
    const zone = 'Europe/Paris'
    const spring = between({ cron: '0 * * * *', zone }, Date.UTC(2026, 2, 28, 23), Date.UTC(2026, 2, 29, 22))
    const autumn = between({ cron: '0 * * * *', zone }, Date.UTC(2026, 9, 24, 22), Date.UTC(2026, 9, 25, 23))
    expect([spring.listed.length, autumn.listed.length]).toEqual([23, 25])
  })

  it.each([
    ['a calendar', { cron: '* * * * *', zone: 'UTC' }],
    ['a fixed rate', { everyMs: 60_000, from: 'start' }],
  ] as const)(
    'of %s that are too many to be listed are counted, with the first and the last of the rest',
    (_, timing) => {
      const from = Date.UTC(2026, 0, 5)
      const { listed, beyond } = between(timing, from, from + day, 1_000)
      expect(listed).toHaveLength(1_000)
      expect(beyond).toEqual({
        from: from + 1_000 * 60_000,
        to: from + day - 60_000,
        count: 440,
        countIsAtLeast: false,
      })
    },
  )

  it('stop being counted before that takes long, and say so', () => {
    const { beyond } = between({ cron: '* * * * * *', zone: 'UTC' }, 0, Date.UTC(2026, 0, 1), 1)
    expect(beyond).toMatchObject({ from: 1_000, count: 50_000, countIsAtLeast: true })
  })
})
