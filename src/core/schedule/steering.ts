import { type Author, type AuthorKind, rankOf } from './hint-author.ts'
import type { ScheduleState } from './state.ts'

/** A pause with an end. A schedule has at most one of each rank, and the latest end counts. */
export interface RankedPause {
  readonly by: AuthorKind
  readonly author: string
  readonly until: number
  readonly reason: string
}

/** The changes by the authors of a schedule's hints and pauses, as ranks and bounds need them. */
export interface Steering {
  /** The latest end first. */
  readonly pauses?: readonly RankedPause[] | undefined
  /** When planners and agents changed something within the last hour. */
  readonly changesAt?: readonly number[] | undefined
  /** When they gave one-shot hints within the last hour. */
  readonly oneshotsAt?: readonly number[] | undefined
  /** When planners proposed something within the last hour. */
  readonly proposalsAt?: readonly number[] | undefined
  /** When it was last paused by any author but a person. */
  readonly pausedAt?: number | undefined
}

type Paused = Pick<ScheduleState, 'pausedUntil' | 'pausedReason' | 'steering'>

/** The pauses of a schedule, the latest end first. A pause that was stored without an author counts as a person's. */
export function pausesOf({ pausedUntil: until, pausedReason, steering }: Paused): readonly RankedPause[] {
  if (until === null) return []
  return steering?.pauses ?? [{ by: 'person', author: '', until, reason: pausedReason ?? 'paused' }]
}

/** The schedule with these pauses, of which the latest end counts. */
export function withPauses<Row extends Paused>(row: Row, pauses: readonly RankedPause[]): Row {
  const latest = pauses.toSorted((a, b) => b.until - a.until || rankOf(a.by) - rankOf(b.by))
  const [first] = latest
  const { pauses: _, ...rest } = row.steering ?? {}
  const kept = first === undefined ? rest : { ...rest, pauses: latest }
  const steering = Object.keys(kept).length === 0 ? null : kept
  return { ...row, pausedUntil: first?.until ?? null, pausedReason: first?.reason ?? null, steering }
}

/** The schedule with a new pause, which replaces the pause of the same rank. */
export function withPauseOf<Row extends Paused>(row: Row, pause: RankedPause): Row {
  const others = pausesOf(row).filter(({ by }) => rankOf(by) !== rankOf(pause.by))
  return withPauses(row, [...others, pause])
}

/** The schedule after its last pause has ended. */
export function withoutPauses<Row extends Paused>(row: Row): Row {
  return withPauses(row, [])
}

/** The schedule without the pauses that an author may end: those of its rank and of lower ones. */
export function withoutPausesOf<Row extends Paused>(row: Row, { kind }: Pick<Author, 'kind'>): Row {
  return withPauses(
    row,
    pausesOf(row).filter(({ by }) => rankOf(by) < rankOf(kind)),
  )
}

/** The pauses that are above an author. */
export function pausesAbove(row: Paused, { kind }: Pick<Author, 'kind'>): readonly RankedPause[] {
  return pausesOf(row).filter(({ by }) => rankOf(by) < rankOf(kind))
}
