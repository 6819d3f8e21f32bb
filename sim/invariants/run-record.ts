import type { Rows } from '../change-log.ts'

export type Place =
  | { readonly kind: 'ready'; readonly row: Rows['ready'] }
  | { readonly kind: 'aside'; readonly row: Rows['aside'] }
  | { readonly kind: 'lease'; readonly row: Rows['lease'] }

/** What is known of a run from the changes of its rows. */
export interface RunRecord {
  readonly definition: Rows['run']
  /** All rows that say where it stands; one of them at a time, and none once it has ended. */
  places: Place[]
  ended: string | null
  isPruned: boolean
  /** The number of its last lease. */
  fence: number
  /** Ends that used the budget since it was made or reset. */
  attempts: number
  releases: number
  resets: number
  /** It may not come into line before. */
  eligibleAt: number | null
  /** Since when it stands where it stands, by the time that really passes. */
  since: number
  /** When somebody asked for its end while it was leased, by the time that really passes. */
  cancelledAt: number | null
  /** A person brought it to life after its schedule was gone. */
  isBroughtBack: boolean
  readonly outcomes: Map<number, string>
}

export function newRecord(definition: Rows['run']): RunRecord {
  return {
    definition,
    places: [],
    ended: null,
    isPruned: false,
    fence: 0,
    attempts: 0,
    releases: 0,
    resets: 0,
    eligibleAt: null,
    since: 0,
    cancelledAt: null,
    isBroughtBack: false,
    outcomes: new Map(),
  }
}

export type Standing = 'ready' | 'held' | 'leased' | 'parked' | 'ended'

/** Where it stands, in the words of the state machine; `null` when nowhere or in two places. */
export function standingOf(run: RunRecord): Standing | null {
  const [place, ...more] = run.places
  if (more.length > 0 || (place !== undefined && run.ended !== null)) return null
  if (place === undefined) return run.ended === null ? null : 'ended'
  if (place.kind === 'lease') return 'leased'
  if (place.kind === 'ready') return 'ready'
  if (place.row.kind === 'parked' || place.row.kind === 'held') return place.row.kind
  return 'ready'
}

/** Whether it counts as a live run of its schedule. */
export function isLive(run: RunRecord): boolean {
  const standing = standingOf(run)
  return standing === 'ready' || standing === 'held' || standing === 'leased'
}
