import type { Hints, RankedHint } from '../../src/core/schedule/governor.ts'
import { type Author, isPerson, rankOf } from '../../src/core/schedule/hint-author.ts'
import { everyHint, hintKinds, isSameSlot } from '../../src/core/schedule/hints.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { RankedPause, Steering } from '../../src/core/schedule/steering.ts'
import type { Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Deed } from './deed.ts'

type Facts = () => Readonly<Record<string, unknown>>

const minute = 60_000
const day = 1_440 * minute

interface Steered {
  readonly before: Rows['schedule'] | null
  readonly after: Rows['schedule']
  readonly spec: ScheduleSpec
  readonly deed: Deed
}

/**
 * Whoever steers at the same moment: each rank has one hint of a kind and one pause, the highest hint that lives is in force, the latest
 * pause counts, no author takes away what stands above it, and what is written by any but a person is within its bounds.
 */
export function demandSteering(steered: Steered): void {
  const { before, after, deed } = steered
  const hints = JSON.parse(after.hints) as Hints
  const hintsBefore = JSON.parse(before?.hints ?? '{}') as Hints
  const told = () => ({ before, after, verb: deed.verb, now: deed.now })
  const all = everyHint(hints)
  const isSole = all.every((hint) => all.filter((other) => isSameSlot(hint, other)).length === 1)
  demand(isSole, 'a schedule has one hint of each kind and rank', told)
  for (const kind of hintKinds) {
    const own = all.filter((hint) => hint.kind === kind)
    demand(own.length === 0 || hints[kind] !== undefined, 'a hint is in force where there is one', told)
  }
  if (after.hints !== before?.hints) demandHighest(hints, deed.now, told)
  demandPauses(steered, told)
  for (const hint of all) {
    const isNew = !everyHint(hintsBefore).some((other) => isEqual(hint, other))
    if (isNew && !isPerson(hint.by)) demandInBounds(hint, steered, told)
  }
  const author = authorOf(deed)
  if (author === null) return
  const fired = deed.changes.some(({ table }) => table === 'ledger')
  const above = everyHint(hintsBefore).filter(
    (hint) => rankOf(hint.by) < rankOf(author.kind) && hint.expiresAt > deed.now,
  )
  const isKept = (hint: RankedHint) => all.some((other) => isEqual(hint, other)) || (fired && hint.kind === 'oneshot')
  demand(above.every(isKept), 'no author takes away a hint above it', told)
}

function demandHighest(hints: Hints, now: number, told: Facts): void {
  for (const { kind, by, expiresAt } of hints.outranked ?? []) {
    const top = hints[kind]
    if (top === undefined || expiresAt <= now || top.expiresAt <= now) continue
    demand(rankOf(top.by) < rankOf(by), 'the highest hint that lives is in force', told)
  }
}

function demandPauses({ before, after, deed }: Steered, told: Facts): void {
  const pauses = pausesIn(after)
  const ranks = new Set(pauses.map(({ by }) => rankOf(by)))
  demand(ranks.size === pauses.length, 'each rank has one pause', told)
  const latest = pauses.length === 0 ? null : Math.max(...pauses.map(({ until }) => until))
  demand(latest === after.paused_until, 'the latest end of a pause counts', told)
  const fresh = pauses.filter(
    (pause) => !pausesIn(before).some(({ by, until }) => by === pause.by && until === pause.until),
  )
  const isShort = fresh.every(({ by, until }) => isPerson(by) || until <= deed.now + day)
  demand(isShort, 'only a person pauses for more than a day', told)
  const author = authorOf(deed)
  if (author === null) return
  const above = pausesIn(before).filter(({ by, until }) => rankOf(by) < rankOf(author.kind) && until > deed.now)
  const isKept = above.every((pause) => pauses.some(({ by, until }) => by === pause.by && until === pause.until))
  demand(isKept, 'no author ends a pause above it', told)
  demand(
    isPerson(author.kind) || before?.disabled_at == null || after.disabled_at !== null,
    'only a person resumes',
    told,
  )
}

function demandInBounds(hint: RankedHint, { spec, deed: { now } }: Steered, told: Facts): void {
  const ttlMs = hint.expiresAt - now
  demand(ttlMs >= minute && ttlMs <= day, 'a hint of a non-person lives a minute to a day', told)
  if (hint.kind === 'oneshot') return
  const leastMs = Math.min(Math.max(10_000, spec.minMs ?? 0), spec.maxMs ?? Number.POSITIVE_INFINITY)
  const mostMs = spec.maxMs ?? Math.max(day, spec.minMs ?? 0)
  demand(hint.ms >= leastMs && hint.ms <= mostMs, 'an interval of a non-person is within its bounds', told)
}

function pausesIn(row: Rows['schedule'] | null): readonly RankedPause[] {
  if (row === null || row.paused_until === null) return []
  return (JSON.parse(row.steering ?? '{}') as Steering).pauses ?? []
}

/** The author of a deed that steers. */
function authorOf({ verb, args }: Deed): Author | null {
  return verb.startsWith('steerBy') ? (args.at(-1) as Author) : null
}

function isEqual(a: RankedHint, b: RankedHint): boolean {
  const value = (hint: RankedHint) => (hint.kind === 'interval' ? hint.ms : hint.at)
  return isSameSlot(a, b) && a.expiresAt === b.expiresAt && value(a) === value(b)
}
