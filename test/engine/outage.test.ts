import { describe, expect, it } from 'vitest'
import { BelfryError } from '../../src/core/error.ts'
import { Events } from '../../src/engine/events.ts'
import { Outage } from '../../src/engine/outage.ts'
import { settingsOf } from '../../src/engine/settings.ts'
import { TestClock } from '../../src/testing/test-clock.ts'

const away = new BelfryError('unavailable', 'away')

function outageWithEars() {
  const clock = new TestClock()
  const events = new Events()
  const told: unknown[] = []
  for (const name of ['store.unavailable', 'store.back', 'worker.failed'] as const) {
    events.on(name, (event: object) => told.push([name, event]))
  }
  return { clock, told, outage: new Outage({ events, clock, settings: settingsOf() }) }
}

describe('an outage of the store', () => {
  it('is told of once, however many loops it meets, and is over when the last of them was answered', () => {
    const { clock, told, outage } = outageWithEars()
    outage.answered('fire')
    outage.failed('fire', away, 1)
    outage.failed('fire', away, 2)
    outage.failed('lease', away, 1)
    clock.advance(1_500)
    outage.answered('fire')
    outage.answered('renew')
    expect(told).toEqual([['store.unavailable', { doing: 'fire', error: away }]])
    clock.advance(500)
    outage.answered('lease')
    outage.answered('lease')
    expect(told.slice(1)).toEqual([['store.back', { afterMs: 2_000 }]])
    clock.advance(10_000)
    outage.failed('lease', away, 1)
    outage.answered('lease')
    expect(told.slice(2)).toEqual([
      ['store.unavailable', { doing: 'lease', error: away }],
      ['store.back', { afterMs: 0 }],
    ])
  })

  it('makes each ask ever more seldom, but at least every 5 s', () => {
    const { outage } = outageWithEars()
    const pauses = [1, 2, 3, 4, 5, 6, 7, 8, 2_000].map((inARow) => outage.failed('fire', away, inARow))
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 5_000, 5_000, 5_000])
  })

  it('is not what a defect is: that is told of each time, and tried again after a second', () => {
    const { told, outage } = outageWithEars()
    const defect = new TypeError('no such thing')
    expect(outage.failed('fire', defect, 1)).toBe(1_000)
    expect(outage.failed('fire', 'a text', 2)).toBe(1_000)
    expect(told).toEqual([
      ['worker.failed', { loop: 'fire', error: defect }],
      ['worker.failed', { loop: 'fire', error: new Error('a text') }],
    ])
  })

  it('pauses renewals only for so long that a lease sees several tries', () => {
    const { outage } = outageWithEars()
    expect(outage.failed('renew', away, 20)).toBe(settingsOf().renewMs / 4)
    expect(outage.failed('fire', away, 20)).toBe(5_000)
  })
})
