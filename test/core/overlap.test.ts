import { describe, expect, it } from 'vitest'
import {
  type LiveRun,
  type OverlapInput,
  overlapDecision,
  overlapOf,
  overlapProblems,
} from '../../src/core/schedule/overlap.ts'

const leased: LiveRun = { id: 'r-1', status: 'leased' }
const waiting: LiveRun = { id: 'r-2', status: 'ready' }
const held: LiveRun = { id: 'r-3', status: 'held' }
const decide = (input: Partial<OverlapInput>) => overlapDecision({ live: [leased], cause: 'occurrence', ...input })

describe('overlapDecision', () => {
  it('makes a run when none is live, under every rule', () => {
    for (const overlap of ['skip', 'queue', 'allow', 'cancel'] as const) {
      expect(decide({ overlap, live: [] }).action).toBe('make')
    }
  })

  it('skips by default, and names the run that caused it', () => {
    expect(decide({})).toMatchObject({ action: 'skip', because: 'r-1' })
    expect(decide({ live: [held] })).toMatchObject({ action: 'skip', because: 'r-3' })
  })

  it('refuses a person under skip, naming the run, unless the run is forced', () => {
    expect(decide({ cause: 'run-now' })).toMatchObject({ action: 'refuse', because: 'r-1' })
    expect(decide({ cause: 'run-now', forced: true }).action).toBe('make')
  })

  it('does not let an occurrence be forced', () => {
    expect(decide({ forced: true }).action).toBe('skip')
  })

  it('lets queueMax runs wait beside the one at work, and skips further ones', () => {
    expect(decide({ overlap: 'queue' }).action).toBe('make')
    expect(decide({ overlap: 'queue', live: [leased, waiting] })).toMatchObject({ action: 'skip', because: 'r-2' })
    expect(decide({ overlap: 'queue', live: [leased, waiting], queueMax: 2 }).action).toBe('make')
    expect(decide({ overlap: 'queue', live: [leased, waiting, held], queueMax: 2 }).action).toBe('skip')
    const asked = { overlap: 'queue', live: [leased, waiting], cause: 'run-now' } as const
    expect(decide(asked)).toMatchObject({ action: 'refuse', because: 'r-2' })
  })

  it('asks every live run to end under cancel, and makes the new one at once', () => {
    expect(decide({ overlap: 'cancel', live: [leased, waiting] })).toMatchObject({
      action: 'make-and-cancel',
      cancel: ['r-1', 'r-2'],
    })
  })

  it('does not drop, for want of room in the line, what missed: all has made up', () => {
    const line = Array.from({ length: 99 }, (_, n): LiveRun => ({ id: `r-${n}`, status: 'ready' }))
    expect(decide({ missed: 'all', live: [leased, ...line] }).action).toBe('make')
    expect(decide({ missed: 'all', live: [leased, ...line, waiting] }).action).toBe('skip')
    expect(decide({ missed: 'all', live: [leased, waiting], queueMax: 1 }).action).toBe('skip')
  })
})

describe('the rules of overlap', () => {
  it('make queue the default of missed: all, and skip that of everything else', () => {
    expect(overlapOf({ missed: 'all' })).toBe('queue')
    expect(overlapOf({ missed: 'once' })).toBe('skip')
    expect(overlapOf({ missed: 'all', overlap: 'allow' })).toBe('allow')
  })

  it('refuse skip and cancel beside missed: all', () => {
    for (const overlap of ['skip', 'cancel'] as const) {
      expect(overlapProblems({ missed: 'all', overlap }).map(({ field }) => field)).toEqual(['overlap'])
      expect(overlapProblems({ missed: 'once', overlap })).toEqual([])
    }
    for (const overlap of ['queue', 'allow', undefined] as const)
      expect(overlapProblems({ missed: 'all', overlap })).toEqual([])
  })

  it('refuse a queueMax that counts nothing, or that nothing reads', () => {
    for (const queueMax of [0, -1, 1.5, Number.NaN]) {
      expect(overlapProblems({ overlap: 'queue', queueMax }).map(({ field }) => field)).toEqual(['queueMax'])
    }
    expect(overlapProblems({ queueMax: 2 })).toMatchObject([
      { field: 'queueMax', expected: 'also `overlap` queue, or `missed` all' },
    ])
    expect(overlapProblems({ missed: 'all', queueMax: 2 })).toEqual([])
  })
})
