export const taskStatuses = ['waiting', 'live', 'paused', 'missed', 'finished'] as const
export type TaskStatus = (typeof taskStatuses)[number]

export interface TaskStanding {
  /** The task has a run that has not ended. */
  readonly isLive: boolean
  /** A person must decide about the task's missed run. */
  readonly isMissed: boolean
  readonly isPaused: boolean
  /** No more runs are planned, or the task was deleted. */
  readonly isOver: boolean
}

/** The status of a task in one word. What needs a person comes first. */
export function taskStatus({ isLive, isMissed, isPaused, isOver }: TaskStanding): TaskStatus {
  if (isMissed) return 'missed'
  if (isLive) return 'live'
  if (isOver) return 'finished'
  return isPaused ? 'paused' : 'waiting'
}
