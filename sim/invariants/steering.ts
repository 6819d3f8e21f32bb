import type { Hints, RankedHint } from '../../src/core/schedule/governor.ts'
import { type Author, isPerson, rankOf } from '../../src/core/schedule/hint-author.ts'
import { everyHint, hintKinds, isSameSlot } from '../../src/core/schedule/hints.ts'
import type { ScheduleSpec } from '../../src/core/schedule/schedule-spec.ts'
import type { RankedPause, Steering } from '../../src/core/schedule/steering.ts'
import type { PlannedAction } from '../../src/parts/planner/looks/act-on-schedule.ts'
import type { Rows } from '../change-log.ts'
import { demand } from './breach.ts'
import type { Deed } from './deed.ts'

type Facts = () => Readonly<Record<string, unknown>>

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** What happened to a schedule, as its bounds count it. */
export interface Steps {
  /** When its last occurrence ended; before the first, when its timing was written. */
  anchoredAt: number
  /** When an occurrence that became a run ended last. */
  ranAt: number | null
  /** When any but a person paused it last. */
  pausedAt: number | null
  /** When planners and agents changed something, and when they gave single runs. */
  changesAt: number[]
  oneshotsAt: number[]
}

export function stepsFrom(now: number): Steps {
  return { anchoredAt: now, ranAt: null, pausedAt: null, changesAt: [], oneshotsAt: [] }
}

interface Steered {
  readonly before: Rows['schedule'] | null
  readonly after: Rows['schedule']
  readonly spec: ScheduleSpec
  readonly deed: Deed
  readonly steps: Steps
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
  const given = all.filter((hint) => !everyHint(hintsBefore).some((other) => isEqual(hint, other)))
  for (const hint of given) if (!isPerson(hint.by)) demandInBounds(hint, steered, told)
  demandRate(steered, given, told)
  demandWindow(steered, told)
  const author = authorOf(deed)
  if (author === null) return
  demandUnseen(steered, told)
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

function demandPauses(steered: Steered, told: Facts): void {
  const { before, after, deed } = steered
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
  if (fresh.some(({ by }) => !isPerson(by))) demandPauseInBounds(fresh, steered, told)
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
  const tenPeriodsMs = 10 * (spec.timing.everyMs ?? day)
  const mostMs = spec.maxMs ?? Math.max(Math.min(tenPeriodsMs, day), spec.minMs ?? 0)
  const leastMs = Math.min(Math.max(10_000, spec.minMs ?? 0), mostMs)
  demand(hint.ms >= leastMs && hint.ms <= mostMs, 'an interval of a non-person is within its bounds', told)
}

/** A pause of a non-person ends by `max` after the last end, and follows no other before a run has ended. Rules pause where a run ends. */
function demandPauseInBounds(fresh: readonly RankedPause[], { spec, deed, steps }: Steered, told: Facts): void {
  const isAtEnd = deed.verb === 'settle' || deed.verb === 'reclaim'
  const from = isAtEnd ? deed.now : steps.anchoredAt
  const latest = from + (spec.maxMs ?? Number.POSITIVE_INFINITY)
  const isBefore = fresh.every(({ by, until }) => isPerson(by) || until <= latest)
  demand(isBefore, 'a pause of a non-person ends by `max`', told)
  const { pausedAt, ranAt } = steps
  const hasRun = isAtEnd || pausedAt === null || (ranAt !== null && ranAt > pausedAt)
  demand(hasRun, 'no pause of a non-person follows another before a run has ended', told)
  steps.pausedAt = deed.now
}

/** Planners and agents change a schedule 12 times an hour at most, and 6 of these are single runs. */
function demandRate({ deed: { now }, steps }: Steered, given: readonly RankedHint[], told: Facts): void {
  const isRated = ({ by }: RankedHint) => by === 'planner' || by === 'agent'
  const within = (instants: readonly number[]) => instants.filter((at) => at > now - hour)
  const rated = given.filter(isRated)
  steps.changesAt = [...within(steps.changesAt), ...rated.map(() => now)]
  steps.oneshotsAt = [...within(steps.oneshotsAt), ...rated.filter(({ kind }) => kind === 'oneshot').map(() => now)]
  demand(steps.changesAt.length <= 12, 'planners and agents change a schedule 12 times an hour', told)
  demand(steps.oneshotsAt.length <= 6, 'planners and agents ask for 6 single runs an hour', told)
}

/** A start that any but a person asked for lies in a minute of the window, where the schedule has one: an even or an odd one. */
function demandWindow({ before, after, spec }: Steered, told: Facts): void {
  if (spec.window === undefined || after.next_run_at === null || after.next_run_at === before?.next_run_at) return
  const { winner } = JSON.parse(after.next_decision ?? '{}') as { winner?: string }
  const { interval, oneshot } = JSON.parse(after.hints) as Hints
  const hint = winner === 'interval-hint' ? interval : winner === 'oneshot-hint' ? oneshot : undefined
  if (hint === undefined || isPerson(hint.by)) return
  const open = spec.window.startsWith('1-59') ? 1 : 0
  demand(Math.floor(after.next_run_at / minute) % 2 === open, 'a hint of a non-person starts inside the window', told)
}

/** What a planner does after a person has acted since it looked changes nothing. */
function demandUnseen({ before, deed: { verb, args } }: Steered, told: Facts): void {
  if (verb !== 'actOnSchedule' || before === null) return
  const { version, epoch } = args[0] as PlannedAction
  const isSeen = before.version === version && before.hint_epoch === epoch
  demand(isSeen, 'no planner acts on what a person has changed since it looked', told)
}

function pausesIn(row: Rows['schedule'] | null): readonly RankedPause[] {
  if (row === null || row.paused_until === null) return []
  return (JSON.parse(row.steering ?? '{}') as Steering).pauses ?? []
}

/** The author of a deed that steers. Where runs end, rules do. */
function authorOf({ verb, args }: Deed): Author | null {
  if (verb === 'actOnSchedule') return (args[0] as PlannedAction).author
  if (verb === 'settle') return { kind: 'rule', name: 'rule' }
  return verb.startsWith('steerBy') ? (args.at(-1) as Author) : null
}

function isEqual(a: RankedHint, b: RankedHint): boolean {
  const value = (hint: RankedHint) => (hint.kind === 'interval' ? hint.ms : hint.at)
  return isSameSlot(a, b) && a.expiresAt === b.expiresAt && value(a) === value(b)
}
