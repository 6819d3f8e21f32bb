import type { Hints, IntervalHint, OneshotHint, RankedHint } from './governor.ts'
import { type AuthorKind, rankOf } from './hint-author.ts'

export type HintKind = 'interval' | 'oneshot'

export const hintKinds = ['interval', 'oneshot'] as const satisfies readonly HintKind[]

/** A hint that no longer counts, and why. */
export interface EndedHint {
  readonly scheduleId: number
  readonly kind: HintKind
  /** The rank of its author: a schedule has at most one hint of each kind and rank. */
  readonly rank: number
  readonly at: number
  readonly by: 'consumed' | 'replaced' | 'cleared' | 'expired' | 'edited'
}

/** Every hint of a schedule, those in force first. */
export function everyHint({ interval, oneshot, outranked = [] }: Hints): RankedHint[] {
  return [
    ...(interval === undefined ? [] : [{ kind: 'interval' as const, ...interval }]),
    ...(oneshot === undefined ? [] : [{ kind: 'oneshot' as const, ...oneshot }]),
    ...outranked,
  ]
}

/**
 * The hints in force among all of a schedule: of each kind the one of the highest rank that has not expired. The others stay, and
 * count again when it ends. Where all have expired, the last one stays in place: from its expiry on the baseline counts.
 */
export function inForce(all: readonly RankedHint[], now: number): Hints {
  const outranked: RankedHint[] = []
  const chosen: { interval?: IntervalHint; oneshot?: OneshotHint } = {}
  for (const kind of hintKinds) {
    const own = all.filter((hint) => hint.kind === kind).toSorted((a, b) => rankOf(a.by) - rankOf(b.by))
    const last = Math.max(...own.map(({ expiresAt }) => expiresAt))
    const first = own.find(({ expiresAt }) => expiresAt > now) ?? own.find(({ expiresAt }) => expiresAt === last)
    if (first === undefined) continue
    const { kind: _, ...hint } = first
    Object.assign(chosen, { [kind]: hint })
    outranked.push(...own.filter((other) => other !== first))
  }
  return outranked.length === 0 ? chosen : { ...chosen, outranked }
}

/** Whether two hints have the same kind and rank. */
export function isSameSlot(a: Slot, b: Slot): boolean {
  return a.kind === b.kind && rankOf(a.by) === rankOf(b.by)
}

interface Slot {
  readonly kind: HintKind
  readonly by?: AuthorKind | undefined
}

/** The hints with a new one, which replaces the hint of the same kind and rank. */
export function withHint(hints: Hints, hint: RankedHint, now: number): Hints {
  return inForce([...everyHint(hints).filter((other) => !isSameSlot(other, hint)), hint], now)
}

/** The hints without some of them; hints of lower rank take their place. */
export function withoutHints(hints: Hints, gone: readonly RankedHint[], now: number): Hints {
  if (gone.length === 0) return hints
  return inForce(
    everyHint(hints).filter((hint) => !gone.some((other) => isSameSlot(other, hint))),
    now,
  )
}

/** The hints without all of some kinds, whatever their rank. */
export function without(hints: Hints, kinds: readonly HintKind[]): Hints {
  const outranked = hints.outranked?.filter(({ kind }) => !kinds.includes(kind)) ?? []
  const { outranked: _, ...others } = hints
  const kept = Object.fromEntries(Object.entries(others).filter(([kind]) => !kinds.includes(kind as HintKind)))
  return outranked.length === 0 ? kept : { ...kept, outranked }
}

/** The hints that have expired by an instant, of every rank. */
export function expiredHints(hints: Hints, now: number): RankedHint[] {
  return everyHint(hints).filter(({ expiresAt }) => expiresAt <= now)
}

/** Whether the interval hint in force has expired by an instant. */
export function isIntervalOver({ interval }: Hints, now: number): boolean {
  return interval !== undefined && interval.expiresAt <= now
}

/** The interval hint that expires last: from then on the baseline counts again. */
export function lastInterval(hints: Hints): IntervalHint | undefined {
  if (hints.outranked === undefined) return hints.interval
  const intervals = everyHint(hints).filter((hint) => hint.kind === 'interval')
  return intervals.toSorted((a, b) => b.expiresAt - a.expiresAt)[0]
}

/** The ends of hints, as they are recorded. */
export function endsOf(scheduleId: number, gone: readonly RankedHint[], at: number, by: EndedHint['by']): EndedHint[] {
  return gone.map(({ kind, by: author }) => ({ scheduleId, kind, rank: rankOf(author), at, by }))
}
