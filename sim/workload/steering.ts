import { type Author, type AuthorKind, isPerson } from '../../src/core/schedule/hint-author.ts'
import type { HintKind } from '../../src/core/schedule/hints.ts'
import type { NewHint } from '../../src/store/port.ts'
import { endPausesOf, writePause } from '../../src/store/schedules/pause-schedule.ts'
import { lockNamedSchedule } from '../../src/store/schedules/schedule-row.ts'
import { clearHintsOf, placeHint, writeHint } from '../../src/store/schedules/steer-schedule.ts'
import { clockNow, type Step } from '../../src/store/statement.ts'
import type { StoreContext } from '../../src/store/store-context.ts'

/** The least time that a hint of a rule or a planner lives. */
const ttlMsMin = 60_000

/** Who steers next: nothing is drawn for it, so that the histories of earlier seeds stay as far as they can. */
export function authorBy(number: number): Author {
  const kinds: readonly AuthorKind[] = ['person', 'planner', 'rule', 'planner', 'person', 'agent']
  const kind = kinds[Math.abs(number) % kinds.length] ?? 'person'
  return { kind, name: kind }
}

/**
 * Gives a hint. A history lasts seconds, and so do the hints of persons in it, which no door would take; those of others go through
 * their bounds.
 */
export function* steerByHint(context: StoreContext, name: string, given: NewHint, author: Author): Step<unknown> {
  const row = yield* lockNamedSchedule(context, name)
  if (row === null) return 'not-found'
  const now = yield* clockNow()
  const expiresAt = given.expiresAt ?? now + ttlMsMin
  const { reason } = given
  if (!isPerson(author.kind)) {
    const ttlMs = Math.max(ttlMsMin, expiresAt - now)
    const own = given.kind === 'interval' ? { kind: given.kind, ms: given.ms } : { kind: given.kind, at: given.at }
    return (yield* writeHint(context, row, { wish: { ...own, ttlMs, reason }, author, now })).answer
  }
  const isUseless = expiresAt <= now || (given.kind === 'interval' && row.spec.timing.at !== undefined)
  if (isUseless || (given.kind === 'oneshot' && given.at >= expiresAt)) return 'refused'
  const hint =
    given.kind === 'interval'
      ? { kind: given.kind, ms: given.ms, expiresAt }
      : { kind: given.kind, at: given.at, expiresAt }
  yield* placeHint(context, row, { hint, reason, author, now })
  return 'written'
}

/** A hint as the action of a planner. */
export function plannedAs({ reason, expiresAt = 0, ...hint }: NewHint, author: Author) {
  const ttlMs = ttlMsMin
  const effect =
    hint.kind === 'interval'
      ? ({ kind: hint.kind, ms: hint.ms, ttlMs } as const)
      : ({ kind: hint.kind, at: hint.at, ttlMs } as const)
  return { analysisId: null, author, effect, reason }
}

export function* steerByPause(context: StoreContext, name: string, until: number, author: Author): Step<unknown> {
  const row = yield* lockNamedSchedule(context, name)
  if (row === null) return 'not-found'
  const now = yield* clockNow()
  return (yield* writePause(row, { until, reason: 'for a while', author, now })).answer
}

export function* steerByClear(context: StoreContext, name: string, author: Author): Step<unknown> {
  const row = yield* lockNamedSchedule(context, name)
  if (row === null) return 'not-found'
  const now = yield* clockNow()
  const kinds: readonly HintKind[] = ['interval', 'oneshot']
  const { answer } = yield* clearHintsOf(context, row, { kinds, author, now })
  if (isPerson(author.kind) || row.pausedUntil === null) return answer
  const after = yield* lockNamedSchedule(context, name)
  return after === null ? answer : (yield* endPausesOf(context, after, { author, now })).answer
}
