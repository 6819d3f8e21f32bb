import { describe, expect, it } from 'vitest'
import { Confirmations } from '../../../src/doors/mcp/confirmations.ts'

const call = '["agent","schedule_delete",{"name":"nightly"}]'

function atDoor() {
  const clock = { now: 1_000_000 }
  const confirmations = new Confirmations('secret', { monotonic: () => clock.now })
  return { clock, confirmations }
}

describe('a confirmation', () => {
  it('that was used is not accepted again, nor with zeros before it, nor in capitals', () => {
    const { confirmations } = atDoor()
    const word = confirmations.offer(call)
    expect(confirmations.accepts(call, word)).toBe(true)
    for (const again of [word, `0${word}`, `0000${word}`, word.toUpperCase(), ` ${word}`]) {
      expect(confirmations.accepts(call, again), again).toBe(false)
    }
  })

  it('that was not used yet is not accepted with zeros before it either: one call has one word', () => {
    const { confirmations } = atDoor()
    const word = confirmations.offer(call)
    expect(confirmations.accepts(call, `0${word}`)).toBe(false)
    expect(confirmations.accepts(call, word)).toBe(true)
  })

  it('expires after five minutes, and not before', () => {
    const { clock, confirmations } = atDoor()
    const [early, late] = [confirmations.offer(call), confirmations.offer(`${call} `)]
    clock.now += 300_000
    expect(confirmations.accepts(call, early)).toBe(true)
    clock.now += 1
    expect(confirmations.accepts(`${call} `, late)).toBe(false)
  })

  it('is for one call of one caller', () => {
    const { confirmations } = atDoor()
    const word = confirmations.offer(call)
    expect(confirmations.accepts(call.replace('nightly', 'hourly'), word)).toBe(false)
    expect(confirmations.accepts(call.replace('agent', 'other'), word)).toBe(false)
  })

  it('that was used stays used however many come after it: a flood of others does not push it out', () => {
    const { clock, confirmations } = atDoor()
    const word = confirmations.offer(call)
    confirmations.accepts(call, word)
    const flood = (from: number) =>
      Array.from({ length: 10_000 }, (_, n) => {
        const other = `${call}${from + n}`
        return confirmations.accepts(other, confirmations.offer(other))
      })
    expect(flood(0).filter((isDone) => isDone)).toHaveLength(9_999)
    expect(confirmations.accepts(call, word)).toBe(false)
    clock.now += 300_001
    expect(flood(10_000).every((isDone) => isDone)).toBe(true)
  })
})
