import { AssertionError } from 'node:assert'

/** Every state of a run, and the states it may move to. A state without moves is final. */
export const moves = {
  ready: ['held', 'leased', 'cancelled', 'skipped'],
  held: ['ready', 'cancelled'],
  leased: ['ready', 'completed', 'failed', 'parked', 'cancelled', 'skipped'],
  parked: ['ready', 'cancelled'],
  completed: [],
  failed: [],
  cancelled: [],
  skipped: [],
} as const

export type RunStatus = keyof typeof moves
export type EndedStatus = {
  [Status in RunStatus]: (typeof moves)[Status] extends readonly [] ? Status : never
}[RunStatus]
export type LiveStatus = Exclude<RunStatus, EndedStatus | 'parked'>

export function isEnded(status: RunStatus): status is EndedStatus {
  return moves[status].length === 0
}

/** Live runs will still do something by themselves; a parked one waits for a person. */
export function isLive(status: RunStatus): status is LiveStatus {
  return status === 'ready' || status === 'held' || status === 'leased'
}

export function canMove(from: RunStatus, to: RunStatus): boolean {
  const targets: readonly RunStatus[] = moves[from]
  return targets.includes(to)
}

/** Throws at a move that no rule allows: a defect, never a user's mistake. */
export function assertMove(from: RunStatus, to: RunStatus): void {
  if (canMove(from, to)) return
  const allowed = isEnded(from) ? 'nothing, for it has ended' : moves[from].join(', ')
  throw new AssertionError({
    message: `A run cannot go from ${from} to ${to}; from ${from} it may go to ${allowed}.`,
    actual: to,
    expected: moves[from],
    operator: 'assertMove',
  })
}
