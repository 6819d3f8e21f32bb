import { opening } from '../opening/opening.ts'
import type { Rule } from '../rule-form.ts'
import { judgeRules, type RuleMemory } from '../rules.ts'
import { afterEnds } from '../schedule/after-ends.ts'
import { afterFire } from '../schedule/after-fire.ts'
import type { NextDecision } from '../schedule/decision.ts'
import { planned } from '../schedule/next-plan.ts'
import type { LiveScheduleRun, ScheduleState } from '../schedule/state.ts'
import { takeTurn } from '../schedule/turn.ts'
import { isOnGrid } from '../timing/timing.ts'
import { steered } from './steered.ts'

/** An answer that a schedule gave, oldest first. */
export interface RecordedAnswer {
  readonly startedAt: number
  readonly endedAt: number
  readonly hasFailed: boolean
  /** The JSON of the answer; undefined where it was not kept. */
  readonly body: unknown
  readonly status?: number | undefined
}

export interface EvalInput {
  /** The schedule at `from`, without hints and pauses. */
  readonly schedule: ScheduleState
  readonly rules: readonly Rule[]
  readonly answers: readonly RecordedAnswer[]
  readonly from: number
  readonly to: number
}

export interface EvaluatedRules {
  readonly starts: { readonly baseline: number; readonly rules: number }
  /**
   * How many starts the rules removed and how many they added, summed hour by hour, so that starts removed in a quiet hour
   * do not hide starts added in a busy one.
   */
  readonly saved: number
  readonly added: number
  /** How often each rule acted. */
  readonly acted: Readonly<Record<string, number>>
  readonly firstFailureAt: number | null
  /** From the first failing answer to the next start; null where none followed. */
  readonly nextStartMs: { readonly baseline: number | null; readonly rules: number | null }
  /** Starts outside `min`, `max` or the window. */
  readonly breaches: number
  /** The replay stopped before the end, because it had too many starts. */
  readonly isCapped: boolean
}

const startsMax = 20_000
const looksMax = 200_000
/** How many instants are replayed before other work gets a turn. */
const looksInTurnMax = 100

/**
 * Replays a schedule over its recorded answers, once without rules and once with them, with the same functions that fire,
 * end and steer a real schedule. A start for which no answer was recorded gets the last answer before it. It yields from
 * time to time, so that its caller can do other work meanwhile.
 */
export function* evalRules(input: EvalInput): Generator<void, EvaluatedRules> {
  const { answers, from } = input
  const baseline = yield* play({ ...input, rules: [] })
  const ruled = yield* play(input)
  const { saved, added } = compared(baseline.starts, ruled.starts)
  const firstFailureAt = answers.find(({ hasFailed, endedAt }) => hasFailed && endedAt >= from)?.endedAt ?? null
  const next = ({ starts }: Played) => {
    const at = firstFailureAt === null ? undefined : starts.find((start) => start > firstFailureAt)
    return at === undefined || firstFailureAt === null ? null : at - firstFailureAt
  }
  return {
    starts: { baseline: baseline.starts.length, rules: ruled.starts.length },
    saved,
    added,
    acted: ruled.acted,
    firstFailureAt,
    nextStartMs: { baseline: next(baseline), rules: next(ruled) },
    breaches: ruled.breaches,
    isCapped: baseline.isCapped || ruled.isCapped,
  }
}

interface LiveRun extends LiveScheduleRun {
  readonly endsAt: number
  readonly answer: RecordedAnswer | undefined
}

interface Played {
  readonly starts: number[]
  readonly acted: Record<string, number>
  breaches: number
  isCapped: boolean
}

/** A schedule in the middle of a replay. */
interface Playing extends Played {
  row: ScheduleState
  live: LiveRun[]
  memory: RuleMemory
  /** While a calendar is closed, a pause lasts or failures delay the schedule, `max` is not violated. */
  heldUntil: number
}

function* play(input: EvalInput): Generator<void, Played> {
  const { schedule, from, to } = input
  const row = planned(schedule, { now: from, lastRunId: null })
  const playing: Playing = {
    row,
    live: [],
    memory: {},
    heldUntil: 0,
    starts: [],
    acted: {},
    breaches: 0,
    isCapped: false,
  }
  for (let looks = 0; looks < looksMax; looks += 1) {
    if (looks % looksInTurnMax === 0) yield
    const ending = playing.live.toSorted((a, b) => a.endsAt - b.endsAt || a.runId - b.runId)[0]
    const { wakeAt } = playing.row
    const at = Math.min(ending?.endsAt ?? Number.POSITIVE_INFINITY, Math.max(from, wakeAt ?? Number.POSITIVE_INFINITY))
    if (at >= to) return playing
    if (playing.starts.length >= startsMax) break
    if (ending !== undefined && ending.endsAt === at && (wakeAt === null || at < wakeAt)) end(playing, ending, input)
    else fire(playing, at, input)
  }
  playing.isCapped = true
  return playing
}

function fire(playing: Playing, now: number, { answers }: EvalInput): void {
  const { row, live } = playing
  const turn = takeTurn(
    row,
    now,
    live.map((run) => ({ ...run, isLeased: true })),
  )
  const made = turn.fires.map(({ plannedAt, dueAt }): LiveRun => {
    const answer = answerAt(answers, now)
    const tookMs = answer === undefined ? 1 : Math.max(1, answer.endedAt - answer.startedAt)
    const run = { runId: playing.starts.length + 1, occurrenceAt: plannedAt, dueAt, enqueuedAt: now, isLeased: true }
    playing.starts.push(now)
    return { ...run, endsAt: now + tookMs, answer }
  })
  for (const { decision } of turn.fires) if (isBreach(row, decision, { now, playing })) playing.breaches += 1
  playing.live = [...live, ...made]
  playing.row = afterFire(
    turn,
    now,
    made.map(({ runId: id, occurrenceAt }) => ({ id, occurrenceAt })),
  )
}

function end(playing: Playing, run: LiveRun, { rules }: EvalInput): void {
  const { runId, endsAt: now, answer } = run
  const live = playing.live.filter((other) => other !== run)
  const hasFailed = answer?.hasFailed === true
  const failures = hasFailed ? playing.row.failureCount + 1 : 0
  if (rules.length > 0 && answer !== undefined) {
    const { body, status, startedAt, endedAt } = answer
    const seen = { sibling: null, body, status, failures, durationMs: endedAt - startedAt }
    const { won, memory } = judgeRules({ now, rules, memory: playing.memory, answer: seen })
    playing.memory = memory
    if (won !== null) {
      playing.acted[won.rule] = (playing.acted[won.rule] ?? 0) + 1
      playing.row = steered(playing.row, won.effect, { now, by: 'rule', lastRunId: runId, isAtEnd: true })
      playing.heldUntil = Math.max(playing.heldUntil, playing.row.pausedUntil ?? 0)
    }
  }
  const ended = {
    ends: [{ runId, status: hasFailed ? 'failed' : 'completed' }] as const,
    counted: new Set([runId]),
    live,
  }
  playing.live = live
  playing.row = afterEnds(playing.row, now, ended)
}

/** Judged from the schedule alone, not by the governor that planned the start. */
function isBreach(
  row: ScheduleState,
  { source, winner }: NextDecision,
  at: { now: number; playing: Playing },
): boolean {
  const { now, playing } = at
  const { minMs = 0, maxMs = Number.POSITIVE_INFINITY, timing } = row.spec
  const isFirst = playing.starts.length <= 1
  // What stands on a grid is measured from the instant planned before it, all else from the last end.
  const since = winner === 'baseline' && isOnGrid(timing) ? (row.lastPlannedAt ?? row.anchorAt) : row.anchorAt
  if (!isFirst && now - since < minMs) return true
  const isHeld = playing.heldUntil > row.anchorAt || row.calendars !== null || source === 'clamped-calendar'
  if (!isFirst && !isHeld && now - row.anchorAt > maxMs) return true
  return winner !== 'baseline' && row.window !== null && !opening({ at: now, calendar: row.window }).open
}

/** The last answer before an instant. */
function answerAt(answers: readonly RecordedAnswer[], at: number): RecordedAnswer | undefined {
  let [low, high] = [0, answers.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((answers[middle] as RecordedAnswer).startedAt <= at) low = middle + 1
    else high = middle
  }
  return answers[Math.max(0, low - 1)]
}

const hourMs = 3_600_000

function compared(baseline: readonly number[], ruled: readonly number[]): { saved: number; added: number } {
  const hours = new Map<number, number>()
  const count = (starts: readonly number[], by: number) => {
    for (const at of starts) hours.set(Math.floor(at / hourMs), (hours.get(Math.floor(at / hourMs)) ?? 0) + by)
  }
  count(ruled, 1)
  count(baseline, -1)
  const differences = [...hours.values()]
  return {
    saved: differences.reduce((sum, each) => sum + Math.max(0, -each), 0),
    added: differences.reduce((sum, each) => sum + Math.max(0, each), 0),
  }
}
