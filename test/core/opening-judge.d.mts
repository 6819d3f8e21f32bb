import type { Opening, OpeningHours } from '../../src/core/opening/opening.ts'

type Opens = (input: { at: number; calendar: OpeningHours }) => Opening
export function wallClock(zone: string): (at: number) => number
export function isOpenAt(calendar: Omit<OpeningHours, 'zone'>): (wallMs: number) => boolean
export function firstDisagreement(
  opening: Opens,
  calendar: OpeningHours,
  stretch: { fromMs: number; untilMs: number },
): string | null
export const calendars: readonly Omit<OpeningHours, 'zone'>[]
