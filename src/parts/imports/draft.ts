import { payloadBytesMax } from '../../core/run/payload.ts'
import { type ScheduleSpec, scheduleProblems } from '../../core/schedule/schedule-spec.ts'
import { newName } from '../../operations/fields/basic-fields.ts'
import type { PolicyPatch } from '../../store/port.ts'
import type { RunWithPast } from '../../store/runs/enqueue.ts'

/** Something in a file that is not supported, or only in part: its place, what it is, and why. */
export interface Left {
  readonly where: string
  readonly what: string
  readonly why: string
  /** Whether it was imported with a difference. */
  readonly isTaken?: true
}

/** A schedule, and its place in the file. */
export interface DraftedSchedule {
  readonly from: string
  readonly spec: ScheduleSpec
  readonly pausedReason?: string
  /** When its pause ends; absent: until it is resumed. */
  readonly pausedUntil?: number
}

/** A group that schedules of the draft name. */
export interface DraftedGroup {
  readonly name: string
  readonly description?: string
  readonly pausedReason?: string
}

/** What a file would create, and everything that is not supported. Nothing is written yet. */
export interface Draft {
  /** The policy to set, where the file has one. */
  readonly policy: PolicyPatch | null
  readonly groups?: readonly DraftedGroup[]
  readonly schedules: readonly DraftedSchedule[]
  readonly runs: readonly RunWithPast[]
  readonly left: readonly Left[]
}

export const nothing: Draft = { policy: null, schedules: [], runs: [], left: [] }

export function together(drafts: readonly Draft[]): Draft {
  return {
    policy: drafts.find(({ policy }) => policy !== null)?.policy ?? null,
    schedules: drafts.flatMap(({ schedules }) => schedules),
    runs: drafts.flatMap(({ runs }) => runs),
    left: drafts.flatMap(({ left }) => left),
  }
}

/** Why a schedule would be refused, in one clause; `null` when it is valid. */
export function whyUnsound(spec: ScheduleSpec, now: number): string | null {
  const problems = scheduleProblems(spec, { now })
  if (problems.length === 0) return whyUnnamed(spec) ?? whyTooLarge(spec)
  return problems.map(clauseOf).join('; ')
}

function clauseOf({ field, problem, expected }: ReturnType<typeof scheduleProblems>[number]): string {
  return `${field.replace(/^timing\./, '')} ${problem} (expected: ${expected})`
}

/** A file may contain names that could be stored but never typed at a command line. */
function whyUnnamed({ name }: ScheduleSpec): string | null {
  if (newName.safeParse(name).success) return null
  return `name is ${shown(name)}, which cannot be typed at a command line or be part of a URL`
}

/** Without this check the store would find the problem last, refuse the whole file and name no line. */
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

/** A name or a value, cut to a readable length. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return (text.length > shownMax ? `${text.slice(0, shownMax)}…` : text).replaceAll('\0', '\u2400').toWellFormed()
}
