import { createHash } from 'node:crypto'

/** How far occurrences may be moved from their nominal instants. Without a spread, nothing is moved. */
export interface SpreadConfig {
  readonly recurringFraction: number
  readonly recurringCapMs: number
  readonly oneShotMaxMs: number
  /**
   * Only one-shots at a UTC minute that is a multiple of this number are moved: people type round minutes without
   * meaning them exactly.
   */
  readonly oneShotMinuteModulo: number
}

/** A spread from the settings, with the number of their version. */
export interface SettledSpread extends SpreadConfig {
  readonly version: number
}

/** The spread of prompt tasks. */
export const promptSpread: SpreadConfig = Object.freeze({
  recurringFraction: 0.1,
  recurringCapMs: 900_000,
  oneShotMaxMs: 90_000,
  oneShotMinuteModulo: 30,
})

export interface SpreadInput {
  readonly id: string
  readonly kind: 'recurring' | 'one-shot'
  readonly plannedAt: number
  /** The gap to the next occurrence; only recurring schedules have one. */
  readonly intervalMs?: number | undefined
  readonly config: SpreadConfig
}

const minuteMs = 60_000
/** How missed occurrences are caught up. */
export interface CatchUpConfig {
  /** Catching up is spread when one queue has at least this many missed occurrences. */
  readonly catchUpMin: number
  /** Over how long it is spread. */
  readonly catchUpMs: number
}

export const catchUpDefault: CatchUpConfig = Object.freeze({ catchUpMin: 4, catchUpMs: 30_000 })

/**
 * How many ms an occurrence moves from its nominal instant, always the same for the same id.
 *
 * A recurring one moves later, so that it never runs twice in one period; a one-shot moves earlier, so that work
 * requested for nine is done by nine.
 */
export function spread({ id, kind, plannedAt, intervalMs = 0, config }: SpreadInput): number {
  if (kind === 'recurring') {
    return Math.floor(fractionOfId(id) * Math.min(config.recurringFraction * intervalMs, config.recurringCapMs))
  }
  // Away from a full minute the value has a fraction, so no divisor matches.
  const minuteOfHour = (plannedAt / minuteMs) % 60
  if (minuteOfHour % config.oneShotMinuteModulo !== 0) return 0
  const earlyMs = Math.floor(fractionOfId(id) * config.oneShotMaxMs)
  return earlyMs === 0 ? 0 : -earlyMs
}

export interface DueInput extends Omit<SpreadInput, 'config'> {
  readonly config?: SpreadConfig | undefined
  readonly createdAt?: number | undefined
}

/**
 * The instant at which an occurrence is due: nominal plus spread.
 *
 * A one-shot that is created less than its offset before its instant would be due before it existed and fire at once, so it is
 * due at its nominal instant.
 */
export function dueAt({ config, createdAt, ...occurrence }: DueInput): number {
  const { plannedAt } = occurrence
  if (config === undefined) return plannedAt
  const due = plannedAt + spread({ ...occurrence, config })
  return due < plannedAt && createdAt !== undefined && due < createdAt ? plannedAt : due
}

export interface ShareInput {
  readonly id: string
  readonly plannedAt: number
  readonly config?: CatchUpConfig | undefined
}

/** The offset, up to 30 s by default, of one of many missed occurrences, so that catching up is not a stampede. */
export function catchUpShareMs({ id, plannedAt, config = catchUpDefault }: ShareInput): number {
  return Math.floor(hashFraction(`${id}@${plannedAt}`) * config.catchUpMs)
}

export interface CatchUpInput {
  readonly now: number
  readonly shareMs: number
  /** After this instant the occurrence may not start any more. */
  readonly lateAfter: number
  readonly config?: CatchUpConfig | undefined
}

/**
 * When a missed occurrence may start. Where little time is left, the offsets use only its first half: a larger offset
 * could make the occurrence too late to start.
 */
export function caughtUpAt({ now, shareMs, lateAfter, config = catchUpDefault }: CatchUpInput): number {
  const roomMs = Math.max(0, lateAfter - now) / 2
  return now + Math.floor(shareMs * Math.min(1, roomMs / Math.max(1, config.catchUpMs)))
}

/** A number in [0, 1) that looks random and depends on the whole text alone. */
export function hashFraction(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) / 2 ** 32
}

function fractionOfId(id: string): number {
  return /^[0-9a-f]{8}/i.test(id) ? Number.parseInt(id.slice(0, 8), 16) / 2 ** 32 : hashFraction(id)
}
