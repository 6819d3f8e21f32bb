/** How far a planner may go: not at all, as far as proposals, or on its own within the bounds. */
export const autonomies = ['off', 'suggest', 'act'] as const
export type Autonomy = (typeof autonomies)[number]

/** Schedules that belong together, as stored. */
export interface GroupSpec {
  /** What its members are for, and how they depend on each other. Planners read it. */
  readonly description?: string | undefined
  /** The bounds for members without bounds of their own. */
  readonly autonomy?: Autonomy | undefined
  /** A cron expression whose minutes are open to hints, for members without a window of their own. */
  readonly window?: string | undefined
}

/** The pause of a group. The pause puts a hold on each member. */
export interface GroupPause {
  readonly at: number
  /** `null`: until it is resumed. */
  readonly until: number | null
  readonly reason: string | null
  readonly by: string
}

/** The code of the holds that a paused group puts on its members. */
export const groupPausedReason = 'group-paused'
