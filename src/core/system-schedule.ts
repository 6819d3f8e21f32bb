/**
 * A schedule that Belfry itself writes: it can be paused, run, hinted and explained like any other, but is edited only through the thing
 * that it serves, such as a corpus.
 */
export interface SystemSchedule {
  /** The thing that the schedule serves. */
  readonly of: string
  /** The commands that change and delete it. */
  readonly change: string
  readonly remove: string
}

export const systemPrefixes = ['belfry:', 'corpus:'] as const

/** The system schedule of this name, if Belfry itself writes it. */
export function systemSchedule(name: string): SystemSchedule | null {
  const prefix = systemPrefixes.find((each) => name.startsWith(each))
  if (prefix === undefined) return null
  if (prefix === 'belfry:') return { of: 'the planner', change: 'belfry planner set', remove: 'belfry planner pause' }
  const corpus = name.slice(prefix.length)
  return {
    of: `corpus ${corpus}`,
    change: `belfry corpus put ${corpus}`,
    remove: `belfry corpus delete ${corpus}`,
  }
}
