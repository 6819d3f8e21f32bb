/** When a worktree outlives its attempt. */
export type Keep = 'changed' | 'always' | 'never'

/** How an attempt in a worktree ended: an interrupted attempt is continued in the same worktree. */
export type WorkspaceEnd = 'succeeded' | 'failed' | 'interrupted'

export interface WorkspaceLeft {
  readonly keep: Keep
  readonly end: WorkspaceEnd
  readonly hasChanges: boolean
}

/** Whether a worktree stays when its attempt has ended. */
export function isWorkspaceKept({ keep, end, hasChanges }: WorkspaceLeft): boolean {
  if (end === 'interrupted' || keep === 'always') return true
  return keep === 'changed' && (hasChanges || end === 'failed')
}

export interface LeftWorktree {
  /** Null while its attempt is at work, and when its worker was lost. */
  readonly hasChanges: boolean | null
  /** Whether its run has ended; a parked run may go on. */
  readonly isOver: boolean
  readonly bytes: number
  readonly madeAt: number
}

/**
 * The worktrees to remove, oldest first: those of ended runs without changes, and then as many as it takes to get below a total
 * size.
 */
export function removableWorktrees<Left extends LeftWorktree>(
  left: readonly Left[],
  { bytesMax = 0, withChanges = false }: { readonly bytesMax?: number; readonly withChanges?: boolean },
): Left[] {
  let bytes = left.reduce((sum, each) => sum + each.bytes, 0)
  const oldest = left.toSorted((a, b) => a.madeAt - b.madeAt)
  return oldest.filter((each) => {
    if (!each.isOver || !(withChanges || each.hasChanges === false)) return false
    if (bytesMax > 0 && bytes <= bytesMax) return false
    bytes -= each.bytes
    return true
  })
}
