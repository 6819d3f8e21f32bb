import { describe, expect, it } from 'vitest'
import { attempt, MadeUp } from './made-up.ts'
import { recoveries, spreadOf } from './recovery.ts'

const lost = (endedAt: number) => attempt(1, { outcome: 'lost', endedAt })

function killed(expiresAt: number, ...runIds: string[]): MadeUp {
  const held = runIds.map((runId) => ({ runId, fence: 1, expiresAt }))
  return new MadeUp().interruption({ kind: 'kill', at: 1_000, workerId: 'w-1', held })
}

describe('recovery', () => {
  it('is the time until the last run of the dead was at work again, less the rest of its lease', () => {
    const { history } = killed(1_800, 'r-1', 'r-2')
      .run('r-1', { attempts: [lost(1_810), attempt(2)] })
      .run('r-2', { attempts: [lost(1_810), attempt(2)] })
      .seen('r-1', { fence: 2, at: 1_830 })
      .seen('r-2', { fence: 2, at: 1_900 })
    expect(recoveries(history, 'kill')).toEqual([{ ms: 100, wholeMs: 900 }])
    expect(recoveries(history, 'outage')).toEqual([])
  })

  it('takes nothing off where the lease had expired before, and is not negative where nobody waited for it', () => {
    const { history } = killed(500, 'r-1')
      .run('r-1', { attempts: [lost(1_010), attempt(2)] })
      .seen('r-1', { fence: 2, at: 1_200 })
    expect(recoveries(history, 'kill')).toEqual([{ ms: 200, wholeMs: 200 }])
    const proven = killed(1_900, 'r-1')
      .run('r-1', { attempts: [lost(1_100), attempt(2)] })
      .seen('r-1', { fence: 2, at: 1_200 })
    expect(recoveries(proven.history, 'kill')).toEqual([{ ms: 0, wholeMs: 200 }])
  })

  it('leaves out the time in which somebody who was stopped inside a write kept everybody out', () => {
    const { history } = killed(1_500, 'r-1')
      .run('r-1', { attempts: [lost(3_010), attempt(2)] })
      .seen('r-1', { fence: 2, at: 3_100 })
      .closed(1_000, 1_600)
      .closed(1_700, 3_000)
      .closed(3_050, 9_000)
    expect(recoveries(history, 'kill')).toEqual([{ ms: 150, wholeMs: 2_100 }])
  })

  it('is not that of a run that must not repeat, was settled after all, or was struck down again before it began', () => {
    const { history } = killed(1_800, 'r-1', 'r-2', 'r-3')
      .run('r-1', { repeatable: false, status: 'parked', attempts: [lost(1_810)] })
      .run('r-2', { attempts: [attempt(1)] })
      .run('r-3', { attempts: [lost(1_810), attempt(2, { outcome: 'lost' }), attempt(3)] })
      .seen('r-3', { fence: 3, at: 4_000 })
    expect(recoveries(history, 'kill')).toEqual([])
  })
})

it('a spread has the middle, the hundredth from above, and the last', () => {
  expect(spreadOf([])).toBe(null)
  expect(spreadOf(Array.from({ length: 200 }, (_, index) => 200 - index))).toEqual({
    count: 200,
    p50: 100,
    p99: 198,
    max: 200,
  })
})
