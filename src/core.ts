/** The pure decisions of Belfry: plain data and `now` in, plain data and the reason out. */

export { type Clock, systemClock } from './core/clock.ts'
export {
  owedPhase,
  type Phase,
  type PhaseEvent,
  type PhaseState,
  type PhaseStatus,
  phases,
  type TransitionInput,
  transition,
} from './core/corpus/phases.ts'
export {
  type PassedOver,
  type PhaseSelection,
  type RankedInput,
  type RankedItem,
  type RankInput,
  rankItems,
  selectPhase,
} from './core/corpus/rank.ts'
export { type Cron, cron } from './core/cron/cron.ts'
export { CronError, type CronErrorField, type CronFault } from './core/cron/cron-error.ts'
export { DurationError, durationMsMax, formatDuration, parseDuration } from './core/duration.ts'
export { BelfryError, type ErrorCode } from './core/error.ts'
export { formatId, type IdKind, parseId } from './core/id.ts'
export {
  type EventRules,
  type Match,
  type MatchInput,
  type Matching,
  type MatchProblem,
  matchEvent,
  matchProblems,
} from './core/json/matcher.ts'
export { CalendarError, type CalendarFault } from './core/opening/calendar-error.ts'
export { type Opening, type OpeningHours, opening } from './core/opening/opening.ts'
export {
  type CalendarUse,
  nextOpening,
  type OpeningOfAllInput,
  openingOfAll,
} from './core/opening/opening-of-all.ts'
export type { Problem } from './core/problem.ts'
export {
  type Capabilities,
  canExecute,
  inQueueOrder,
  type LeasePlan,
  type PlanInput,
  type PlannedRun,
  type PlanPolicy,
  planLeases,
  type QueueOrder,
  type SkipReason,
  type TargetNeed,
} from './core/queue/plan-leases.ts'
export {
  defaultPolicy,
  type Policy,
  policyProblems,
  type RateLimit,
  type Retention,
} from './core/queue/policy.ts'
export { type BackoffInput, type BackoffPolicy, backoffMs } from './core/run/backoff.ts'
export {
  assertMove,
  canMove,
  type EndedStatus,
  isEnded,
  isLive,
  type LiveStatus,
  moves,
  type RunStatus,
} from './core/run/run-state.ts'
export {
  type JudgedRun,
  type Outcome,
  type Verdict,
  type VerdictInput,
  type VerdictPolicy,
  verdict,
} from './core/run/verdict.ts'
export {
  type GovernedSchedule,
  type GovernorInput,
  type GovernorState,
  type Hints,
  type NextRun,
  nextRun,
  type Source,
  type TrailRule,
  type TrailStep,
  type Winner,
} from './core/schedule/governor.ts'
export {
  type LiveRun,
  type OverlapDecision,
  type OverlapInput,
  type OverlapMode,
  overlapDecision,
  overlapOf,
  overlapProblems,
} from './core/schedule/overlap.ts'
export { type ScheduleCheck, type ScheduleSpec, scheduleProblems } from './core/schedule/schedule-spec.ts'
export { needOf, type Target } from './core/target.ts'
export {
  type LateOccurrence,
  type LateSchedule,
  type LateState,
  type Missed,
  type MissedInput,
  type MissedMode,
  maxLatenessMs,
  missed,
} from './core/timing/missed.ts'
export {
  type CountedRange,
  type Occurrences,
  type OccurrencesInput,
  occurrences,
  type PlannedState,
} from './core/timing/occurrences.ts'
export { backedOffEveryMs, type ScheduleBackoffInput } from './core/timing/schedule-backoff.ts'
export {
  catchUpShareMs,
  type DueInput,
  dueAt,
  promptSpread,
  type SpreadConfig,
  type SpreadInput,
  spread,
} from './core/timing/spread.ts'
export type { CronTiming, EveryTiming, NoTiming, OnceTiming, Timing } from './core/timing/timing.ts'
export { fence, unfence } from './core/untrusted-text.ts'
