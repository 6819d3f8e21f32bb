import type { IcalProperty } from './ical-lines.ts'

/** An event by the wall clock of the calendar, written as the UTC instant that shows the same digits. */
export interface IcalEvent {
  readonly startMs: number
  readonly endMs: number
  readonly isAllDay: boolean
  /** Whether its times follow the wall clock of the calendar, so that a rule can repeat them. */
  readonly isLocal: boolean
}

/** Why an event cannot be taken, and the property that is the cause. */
export class IcalProblem extends Error {
  readonly property: IcalProperty | null

  constructor(problem: string, property: IcalProperty | null = null) {
    super(problem)
    this.property = property
  }
}

export function dateText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10)
}

export function timeText(ms: number): string {
  return new Date(ms).toISOString().slice(11, 16)
}
