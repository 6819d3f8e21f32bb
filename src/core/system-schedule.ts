/** A schedule that Belfry itself writes: it can be paused, run, hinted and explained like any other, and is changed through what it serves. */
export interface SystemSchedule {
  /** What it serves. */
  readonly of: string
  /** How to change it, and how to be rid of it. */
  readonly change: string
  readonly remove: string
}

export const systemPrefixes = ['belfry:', 'corpus:'] as const

/** How a schedule of this name is written, if Belfry itself writes it. */
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
