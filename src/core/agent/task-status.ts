export const taskStatuses = ['waiting', 'live', 'paused', 'missed', 'finished'] as const
export type TaskStatus = (typeof taskStatuses)[number]

export interface TaskStanding {
  /** It has a run that has not ended. */
  readonly isLive: boolean
  /** A person decides about its missed run. */
  readonly isMissed: boolean
  readonly isPaused: boolean
  /** Nothing more is planned, or it was deleted. */
  readonly isOver: boolean
}

/** How a task stands, in one word. What needs a person comes first. */
export function taskStatus({ isLive, isMissed, isPaused, isOver }: TaskStanding): TaskStatus {
  if (isMissed) return 'missed'
  if (isLive) return 'live'
  if (isOver) return 'finished'
  return isPaused ? 'paused' : 'waiting'
}
