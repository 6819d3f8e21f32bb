import type { GovernorState, Source, TrailStep, Winner } from './governor.ts'
import type { Unmeasured } from './governor-question.ts'

/** Why a run was planned for its instant, as the governor answered then. */
export interface Decision {
  /** When the governor was asked. */
  readonly at: number
  /** The version of the schedule's spec it answered by. */
  readonly version: number
  /** The memory it answered from: spec, memory and `at` give the same answer again. The ledger does not keep it. */
  readonly state?: GovernorState | undefined
  /** What counts from the end of the last occurrence and could not be counted, because that occurrence was live. */
  readonly unmeasured?: Unmeasured | undefined
  readonly trail: readonly TrailStep[]
}

/** The decision about the next run of a schedule. */
export interface NextDecision extends Decision {
  readonly source: Source
  readonly winner: Winner | null
  /** Whether the plan is a fixed delay, which nothing nominal follows. */
  readonly waitsForEnd: boolean
  /** While the schedule is paused: the first nominal instant that passes it by. */
  readonly passingAt?: number | undefined
}
