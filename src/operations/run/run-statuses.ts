import { type EndedStatus, isEnded, moves, type RunStatus } from '../../core/run/run-state.ts'

/** The states of a run, as schemas list them. */
export const runStatuses = Object.keys(moves) as [RunStatus, ...RunStatus[]]

export const endedStatuses = runStatuses.filter(isEnded) as [EndedStatus, ...EndedStatus[]]
