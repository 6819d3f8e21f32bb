import type { NamedCalendar } from '../opening/closings.ts'
import type { OpeningHours } from '../opening/opening.ts'
import type { SettledSpread } from '../timing/spread.ts'
import type { GovernorState, Source, TrailStep, Winner } from './governor.ts'
import type { Unmeasured } from './governor-question.ts'

/** Why a run was planned for its instant: the governor's answer at that time. */
export interface Decision {
  /** When the governor was asked. */
  readonly at: number
  /** The version of the schedule's spec behind the answer. */
  readonly version: number
  /** The memory behind the answer: spec, memory and `at` reproduce it. The ledger does not keep it. */
  readonly state?: GovernorState | undefined
  /** Rules that count from the end of the last occurrence and could not, because that occurrence was live. */
  readonly unmeasured?: Unmeasured | undefined
  /** The calendars behind the answer; their hours are kept by version. */
  readonly calendars?: readonly CalendarRef[] | undefined
  /** The window behind the answer, where a hint had to stay in it. */
  readonly window?: OpeningHours | undefined
  /** The spread behind the due instant, where the spread comes from the settings. */
  readonly spread?: SettledSpread | undefined
  readonly trail: readonly TrailStep[]
}

export type CalendarRef = Pick<NamedCalendar, 'name' | 'version' | 'isInverted'>

/** The decision about the next run of a schedule. */
export interface NextDecision extends Decision {
  readonly source: Source
  readonly winner: Winner | null
  /** Whether the plan is a fixed delay, after which there are no nominal instants. */
  readonly waitsForEnd: boolean
  /** While the schedule is paused: the first nominal instant that is skipped. */
  readonly passingAt?: number | undefined
  /** The first nominal instant that closed calendars or a quota pass over, and that has no end yet. */
  readonly closedFrom?: number | undefined
  /** The outcome of those instants. Default: `calendar`. */
  readonly closedFor?: string | undefined
}
