import { describe, expect, it } from 'vitest'
import { Belfry } from '../../src/index.ts'
import { drain } from '../../src/testing/drain.ts'
import { TestClock } from '../../src/testing/test-clock.ts'

async function open(clock: TestClock): Promise<Belfry> {
  return Belfry.open({ store: 'memory:', clock, log: false })
}

describe('drain', () => {
  it('does what is due, and nothing that is not', async () => {
    const clock = new TestClock()
    await using belfry = await open(clock)
    const seen: unknown[] = []
    belfry.handle('note', ({ payload }) => seen.push(payload))
    const note = (payload: string, notBefore: Date) => {
      return belfry.runs.enqueue({ target: { handler: 'note' }, payload, notBefore })
    }
    await note('now', new Date(clock.now()))
    await note('soon', new Date(clock.now() + 1))
    await drain(belfry)
    expect(seen).toEqual(['now'])
    clock.advance(1)
    await drain(belfry)
    expect(seen).toEqual(['now', 'soon'])
  })

  it('lets a month pass in one call, each occurrence at its own instant', async () => {
    const clock = new TestClock(Date.UTC(2026, 2, 1))
    await using belfry = await open(clock)
    const seen: string[] = []
    belfry.handle('report', () => seen.push(new Date(clock.now()).toISOString()))
    await belfry.schedules.put({ name: 'r', cron: '0 9 * * 1-5', zone: 'Europe/Paris', target: { handler: 'report' } })
    await drain(belfry, { clock, for: '31d' })
    expect(clock.now()).toBe(Date.UTC(2026, 3, 1))
    expect(seen).toHaveLength(22)
    expect(seen[0]).toBe('2026-03-02T08:00:00.000Z')
    // On the 29th summer time begins, and nine o'clock is an hour earlier for everybody else.
    expect(seen.at(-1)).toBe('2026-03-31T07:00:00.000Z')
  })

  it('goes on with retries as their backoff ends', async () => {
    const clock = new TestClock()
    await using belfry = await open(clock)
    const seen: number[] = []
    belfry.handle('fails', ({ attempt }) => {
      seen.push(clock.now())
      if (attempt < 3) throw new Error('not yet')
    })
    const from = clock.now()
    await belfry.runs.enqueue({ target: { handler: 'fails' } })
    await drain(belfry, { clock, for: '1h' })
    expect(seen.map((at) => at - from)).toEqual([0, 1_000, 3_000])
  })
})
