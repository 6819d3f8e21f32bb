import { describe, expect, it } from 'vitest'
import { Caution } from '../../src/engine/leases/caution.ts'

describe('caution after deferrals', () => {
  it('leases as many as could be leased until a part defers a run, then one at a time', () => {
    const caution = new Caution()
    caution.asked('q')
    expect(caution.atMost('q', 50)).toBe(50)
    expect(caution.answered('q', { isDeferred: true })).toBe(true)
    expect(caution.atMost('q', 50)).toBe(1)
    expect(caution.atMost('other', 50)).toBe(50)
    caution.asked('q')
    expect(caution.atMost('q', 50)).toBe(0)
    expect(caution.goesOn('q')).toBe(false)
  })

  it('leases one more after each run that started, and as before where parts have nothing to ask', () => {
    const caution = new Caution()
    caution.asked('q')
    caution.answered('q', { isDeferred: true })
    for (const most of [2, 3, 4]) {
      caution.asked('q')
      expect(caution.answered('q', { isDeferred: false })).toBe(true)
      expect(caution.atMost('q', 50)).toBe(most)
    }
    for (const most of [8, 16, 32, 50]) {
      expect(caution.goesOn('q')).toBe(true)
      expect(caution.atMost('q', 50)).toBe(most)
    }
  })
})
