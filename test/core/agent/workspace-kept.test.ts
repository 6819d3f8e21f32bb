import { describe, expect, it } from 'vitest'
import { isWorkspaceKept, removableWorktrees } from '../../../src/core/agent/workspace-kept.ts'

describe('a worktree outlives its attempt', () => {
  it.each([
    ['changed', 'succeeded', false, false],
    ['changed', 'succeeded', true, true],
    ['changed', 'failed', false, true],
    ['always', 'succeeded', false, true],
    ['never', 'failed', true, false],
    ['never', 'interrupted', false, true],
  ] as const)('keep %s, %s, changes %s: %s', (keep, end, hasChanges, kept) => {
    expect(isWorkspaceKept({ keep, end, hasChanges })).toBe(kept)
  })
})

describe('worktrees are removed', () => {
  const at = (madeAt: number, more: object = {}) => ({
    madeAt,
    isOver: true,
    hasChanges: false as boolean | null,
    bytes: 10,
    ...more,
  })

  it('where their runs have ended and they have no changes', () => {
    const left = [at(1), at(2, { hasChanges: true }), at(3, { isOver: false }), at(4, { hasChanges: null })]
    expect(removableWorktrees(left, {})).toEqual([left[0]])
    expect(removableWorktrees(left, { withChanges: true })).toEqual([left[0], left[1], left[3]])
  })

  it('oldest first, until the rest is small enough', () => {
    const left = [at(3), at(1), at(2, { hasChanges: true }), at(4)]
    expect(removableWorktrees(left, { bytesMax: 25 }).map(({ madeAt }) => madeAt)).toEqual([1, 3])
    expect(removableWorktrees(left, { bytesMax: 40 })).toEqual([])
  })
})
