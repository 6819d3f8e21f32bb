import { payloadBytesMax } from '../../core/run/payload.ts'
import { type ScheduleSpec, scheduleProblems } from '../../core/schedule/schedule-spec.ts'
import { newName } from '../../operations/fields/basic-fields.ts'
import type { PolicyPatch } from '../../store/port.ts'
import type { RunWithPast } from '../../store/runs/enqueue.ts'

/** Something in a file that has no counterpart here, or not wholly: where it stands, what it is, and why. */
export interface Left {
  readonly where: string
  readonly what: string
  readonly why: string
  /** Whether it was taken over all the same, and is only different from before. */
  readonly isTaken?: true
}

/** A schedule, and where in the file it stands. */
export interface DraftedSchedule {
  readonly from: string
  readonly spec: ScheduleSpec
  /** Why it is paused, where it was. */
  readonly pausedReason?: string
}

/** What a file asks for, and everything in it that cannot be had. Nothing has been written for it yet. */
export interface Draft {
  /** What the queue is to be told, where the file says so. */
  readonly policy: PolicyPatch | null
  readonly schedules: readonly DraftedSchedule[]
  readonly runs: readonly RunWithPast[]
  readonly left: readonly Left[]
}

export const nothing: Draft = { policy: null, schedules: [], runs: [], left: [] }

/** All that several files ask for. */
export function together(drafts: readonly Draft[]): Draft {
  return {
    policy: drafts.find(({ policy }) => policy !== null)?.policy ?? null,
    schedules: drafts.flatMap(({ schedules }) => schedules),
    runs: drafts.flatMap(({ runs }) => runs),
    left: drafts.flatMap(({ left }) => left),
  }
}

/** Why a schedule would be refused, in one clause; `null` where it would not. */
export function whyUnsound(spec: ScheduleSpec, now: number): string | null {
  const problems = scheduleProblems(spec, { now })
  if (problems.length === 0) return whyUnnamed(spec) ?? whyTooLarge(spec)
  return problems.map(clauseOf).join('; ')
}

function clauseOf({ field, problem, expected }: ReturnType<typeof scheduleProblems>[number]): string {
  return `${field.replace(/^timing\./, '')} ${problem} (expected: ${expected})`
}

/** A file may hold names that could be made here and asked for nowhere. */
function whyUnnamed({ name }: ScheduleSpec): string | null {
  if (newName.safeParse(name).success) return null
  return `name is ${shown(name)}, which cannot be typed at a command line or stand in an address`
}

/** The store would look at it last, refuse everything, and name no line. */
function whyTooLarge({ payload, target }: ScheduleSpec): string | null {
  for (const [field, value] of Object.entries({ payload, target })) {
    const bytes = value === undefined ? 0 : bytesOf(value)
    if (bytes > payloadBytesMax) return `its ${field} has ${bytes} bytes, and may have ${payloadBytesMax}`
  }
  return null
}

export function bytesOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value)).length
}

const shownMax = 80

/** A name or a value as it is told, never longer than helps. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return (text.length > shownMax ? `${text.slice(0, shownMax)}…` : text).replaceAll('\0', '\u2400').toWellFormed()
}
