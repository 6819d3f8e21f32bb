import { describe, expect, it } from 'vitest'
import { assertMove, canMove, isEnded, isLive, moves, type RunStatus } from '../../src/core/run/run-state.ts'

const statuses = Object.keys(moves) as RunStatus[]

describe('run states', () => {
  it('have four ends, which nothing leaves', () => {
    expect(statuses.filter(isEnded)).toEqual(['completed', 'failed', 'cancelled', 'skipped'])
    for (const from of statuses.filter(isEnded)) {
      for (const to of statuses) expect(() => assertMove(from, to)).toThrow(/it has ended/)
    }
  })

  it('count a parked run neither as live nor as ended', () => {
    expect(statuses.filter(isLive)).toEqual(['ready', 'held', 'leased'])
    expect(isLive('parked') || isEnded('parked')).toBe(false)
  })

  it('allow no way to an execution but from ready to leased', () => {
    expect(statuses.filter((from) => canMove(from, 'leased'))).toEqual(['ready'])
  })

  it('allow completed and failed only from a lease', () => {
    expect(statuses.filter((from) => canMove(from, 'completed') || canMove(from, 'failed'))).toEqual(['leased'])
  })

  it('can reach an end from everywhere', () => {
    for (const from of statuses) expect(isEnded(from) || canMove(from, 'cancelled')).toBe(true)
  })

  it('say where a refused move could have gone instead', () => {
    expect(() => assertMove('parked', 'leased')).toThrow(
      'A run cannot go from parked to leased; from parked it may go to ready, cancelled.',
    )
    expect(() => assertMove('ready', 'leased')).not.toThrow()
  })
})
