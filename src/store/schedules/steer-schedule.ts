import type { Hints, RankedHint } from '../../core/schedule/governor.ts'
import { type Author, type AuthorKind, isPerson, rankOf } from '../../core/schedule/hint-author.ts'
import {
  type BoundsInput,
  type Clamped,
  hintBounds,
  type Refusal,
  type Wanted,
} from '../../core/schedule/hint-bounds.ts'
import {
  endsOf,
  everyHint,
  type HintKind,
  isIntervalOver,
  isSameSlot,
  withHint,
  withoutHints,
} from '../../core/schedule/hints.ts'
import { beforeOneshot, planned } from '../../core/schedule/next-plan.ts'
import { isPaused, lastRunId } from '../../core/schedule/state.ts'
import { isWorkable } from '../../core/schedule/workable.ts'
import { both, freshIds, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { tables } from '../tables.ts'
import { fireBefore } from './fire-due.ts'
import { endHints } from './hint-row.ts'
import { liveRunsOf } from './live-run.ts'
import { type ScheduleRow, saveSchedules } from './schedule-row.ts'

const insertHint = both('hint insert', tables.hint.insertOne())

/** A hint as its author requests it; the time to live begins when the hint is written. */
export type HintWish = { readonly reason: string } & (
  | { readonly expiresAt: number; readonly ttlMs?: undefined }
  | { readonly ttlMs: number; readonly expiresAt?: undefined }
) &
  ({ readonly kind: 'interval'; readonly ms: number } | { readonly kind: 'oneshot'; readonly at: number })

export interface Refused {
  readonly answer: 'refused'
  readonly refusal: Refusal
}

export interface HintWritten {
  readonly answer: 'written'
  /** The schedule after the hint, as stored. */
  readonly row: ScheduleRow
  /** The values that bounds changed. */
  readonly clamped: Clamped | null
  /** The author of the hint that outranks it, if one does: it waits until that has ended. */
  readonly outrankedBy: AuthorKind | null
}

export interface HintGiven {
  readonly wish: HintWish
  readonly author: Author
  readonly now: number
  /** A run of the schedule ends in this transaction; its state does not include that end yet. */
  readonly isAtEnd?: boolean | undefined
}

/**
 * Writes a hint on a locked schedule within the bounds of its author, and asks the governor at once. The hint replaces the one of its
 * kind and rank. The function returns a refusal, and does not throw, if the author may not give the hint.
 */
export function* writeHint(
  context: StoreContext,
  locked: ScheduleRow,
  { wish, author, now, isAtEnd }: HintGiven,
): Step<HintWritten | Refused> {
  const expiresAt = wish.expiresAt ?? now + wish.ttlMs
  const asked =
    wish.kind === 'interval' ? { kind: wish.kind, ms: wish.ms, expiresAt } : { kind: wish.kind, at: wish.at, expiresAt }
  const everyMinMs = yield* everyMinOf(context, locked)
  const bounds = boundsOf(locked, { by: author.kind, wanted: asked, now, everyMinMs })
  if (bounds.answer === 'refused') return bounds
  const { wanted, clamped, steering } = bounds
  const hint = wanted as Extract<Wanted, { kind: HintKind }>
  const row = yield* placeHint(context, { ...locked, steering }, { hint, reason: wish.reason, author, now, isAtEnd })
  const above = row.hints[hint.kind]?.by ?? 'person'
  return { answer: 'written', row, clamped, outrankedBy: rankOf(above) < rankOf(author.kind) ? above : null }
}

/** The least time between two occurrences that the namespace of a schedule allows; 0: any. */
export function* everyMinOf(context: StoreContext, { ns }: Pick<ScheduleRow, 'ns'>): Step<number> {
  let leastMs = 0
  for (const { everyMin } of context.parts) {
    if (everyMin !== undefined) leastMs = Math.max(leastMs, (yield* everyMin({ ...context, ns })) ?? 0)
  }
  return leastMs
}

interface Placed {
  readonly hint: Extract<Wanted, { kind: HintKind }>
  readonly reason: string
  readonly author: Author
  readonly now: number
  readonly isAtEnd?: boolean | undefined
}

/** Writes a hint without checking the bounds of its author: `writeHint` has checked them. */
export function* placeHint(
  context: StoreContext,
  locked: ScheduleRow,
  { hint, reason, author, now, isAtEnd = false }: Placed,
): Step<ScheduleRow> {
  const ranked: RankedHint = isPerson(author.kind) ? hint : { ...hint, by: author.kind }
  const gone = everyHint(locked.hints).filter((other) => isSameSlot(other, ranked))
  const found = yield* withPastSettled(context, now, locked, gone)
  yield* endHints(endsOf(found.id, [ranked], now, 'replaced'))
  const row = yield* askAgain(withEpoch(found, author), withHint(found.hints, ranked, now), now)
  const [id] = (yield* freshIds(1)) as [number]
  const { kind, expiresAt } = hint
  const value = hint.kind === 'interval' ? hint.ms : hint.at
  const given = { id, ns: found.ns, scheduleId: found.id, kind, value, expiresAt, reason, createdAt: now }
  // The end that is being written is what the next instant is measured from.
  const nextOf = (plan: ScheduleRow) => (isAtEnd ? afterEnd(plan, now) : plan).nextRunAt
  const by = { author: author.name, by: author.kind, wasNextAt: nextOf(locked), nextAt: nextOf(row) }
  yield* one(insertHint, ...tables.hint.tuple({ ...given, ...by, endedAt: null, endedBy: null }))
  return row
}

/** The schedule as its end in this transaction will leave it, for what a hint says that it changes. */
function afterEnd(row: ScheduleRow, now: number): ScheduleRow {
  return planned({ ...row, anchorAt: now, lastEndAt: now, waitsFor: null }, { now, lastRunId: null })
}

export interface HintsCleared {
  readonly answer: 'cleared'
  readonly row: ScheduleRow
  readonly cleared: readonly HintKind[]
  /** The authors of hints of higher ranks, which stay. */
  readonly kept: readonly AuthorKind[]
}

/** Removes the hints of an author's rank and of lower ones; the schedule goes on as if they had never been given. */
export function* clearHintsOf(
  context: StoreContext,
  locked: ScheduleRow,
  { kinds, author, now }: { readonly kinds: readonly HintKind[]; readonly author: Author; readonly now: number },
): Step<HintsCleared | Refused> {
  const all = everyHint(locked.hints).filter(({ kind }) => kinds.includes(kind))
  // The one-shot hint of a loop that paces itself is all its timing: without it the loop would neither go on nor end.
  const isTiming = ({ kind }: RankedHint) => kind === 'oneshot' && locked.spec.task?.pace === 'self'
  const mayGo = isPerson(author.kind) ? all : all.filter((hint) => !isTiming(hint))
  const gone = mayGo.filter(({ by }) => rankOf(by) >= rankOf(author.kind))
  const kept = all.filter((hint) => !gone.includes(hint)).map(({ by = 'person' }) => by)
  const cleared = kinds.filter((kind) => gone.some((hint) => hint.kind === kind))
  if (gone.length === 0) return { answer: 'cleared', row: locked, cleared, kept }
  const bounds = boundsOf(locked, { by: author.kind, wanted: { kind: 'clear' }, now })
  if (bounds.answer === 'refused') return bounds
  const found = yield* withPastSettled(context, now, { ...locked, steering: bounds.steering }, gone)
  yield* endHints(endsOf(found.id, gone, now, 'cleared'))
  const left = withoutHints(found.hints, gone, now)
  const row = yield* askAgain(withoutPlan(withEpoch(found, author), left), left, now)
  return { answer: 'cleared', row, cleared, kept }
}

/** Checks what an author may do to a locked schedule. */
export function boundsOf(
  { spec, anchorAt, lastEndAt, steering }: ScheduleRow,
  { by, wanted, now, isAtEnd, everyMinMs }: Pick<BoundsInput, 'by' | 'wanted' | 'now' | 'isAtEnd' | 'everyMinMs'>,
): ReturnType<typeof hintBounds> {
  if (!isPerson(by) && !isWorkable(spec)) {
    const problem = 'is of a schedule whose time zone this machine does not know'
    return {
      answer: 'refused',
      refusal: { code: 'not-allowed', field: 'kind', problem, expected: 'a known time zone' },
    }
  }
  return hintBounds({ now, by, wanted, isAtEnd, everyMinMs, schedule: spec, state: { anchorAt, lastEndAt, steering } })
}

/** A change by a person supersedes proposals that were made before it. */
export function withEpoch(row: ScheduleRow, { kind }: Pick<Author, 'kind'>): ScheduleRow {
  return isPerson(kind) ? { ...row, hintEpoch: row.hintEpoch + 1 } : row
}

/**
 * A pause or an interval hint that ended before any worker acted on its end is applied first: cron instants since then get an
 * end, and the new hint does not apply to them. A one-shot that is being removed (`gone`) does not fire meanwhile.
 */
function* withPastSettled(
  context: StoreContext,
  now: number,
  row: ScheduleRow,
  gone: readonly RankedHint[],
): Step<ScheduleRow> {
  if (isPaused(row, now)) return row
  const isPauseOver = row.pausedUntil !== null
  if (!isPauseOver && !isIntervalOver(row.hints, now)) return row
  const taken = isPauseOver ? gone.filter(({ kind }) => kind === 'oneshot') : []
  const asked = { ...row, hints: withoutHints(row.hints, taken, now) }
  return yield* fireBefore(context, now, asked)
}

function* askAgain(found: ScheduleRow, hints: Hints, now: number): Step<ScheduleRow> {
  const live = (yield* liveRunsOf([found.id])).get(found.id) ?? []
  const row = { ...found, hints }
  const after = planned(row, { now: asOf(row, now), lastRunId: lastRunId(row, live) })
  yield* saveSchedules([after])
  return after
}

/**
 * A removed one-shot does not fire, even if its instant has passed. While the end of a run is awaited there are no
 * nominal instants.
 */
function asOf(row: ScheduleRow, now: number): number {
  const { timing } = row.spec
  const isDelay = row.hints.interval !== undefined || (timing.everyMs !== undefined && timing.from !== 'start')
  return row.hints.oneshot !== undefined || isDelay ? now : beforeOneshot(row, now)
}

/** The row without the plan of a removed hint, whose place a hint of lower rank takes. */
function withoutPlan(row: ScheduleRow, left: Hints): ScheduleRow {
  const { nextDecision, hints } = row
  const kind = nextDecision?.winner === 'interval-hint' ? 'interval' : 'oneshot'
  const isOther = left[kind] !== undefined && left[kind]?.expiresAt !== hints[kind]?.expiresAt
  return nextDecision?.winner !== 'baseline' && isOther ? { ...row, nextRunAt: null, nextDueAt: null } : row
}
