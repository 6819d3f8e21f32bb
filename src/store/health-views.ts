import type { ScheduleSpec } from '../core/schedule/schedule-spec.ts'

export interface StoreCondition {
  readonly database: DatabaseCondition
  readonly schema: { readonly found: number; readonly known: number }
}

/** What a database tells of itself. */
export interface DatabaseCondition {
  readonly kind: 'SQLite' | 'PostgreSQL'
  readonly version: string
  /** Its file; `null` where it has none that this process could look at. */
  readonly file: FileCondition | null
  /** It ends with this process. */
  readonly isEphemeral: boolean
  /** Settings by which a crash may lose what was acknowledged. */
  readonly risks: readonly RiskySetting[]
}

export interface FileCondition {
  readonly bytes: number
  /** Of these, what holds nothing and will be used again. */
  readonly freeBytes: number
  readonly logBytes: number
  /** From here on the log is to be cut back. */
  readonly logBytesMax: number
  /** The network file system it lies on, across which its locks do not hold. */
  readonly network: string | null
}

export interface RiskySetting {
  readonly setting: string
  readonly is: string
  /** What sets it right. */
  readonly mend: string
}

export interface TroubledLease {
  readonly runId: string
  readonly fence: number
  readonly queue: string
  readonly workerId: string
  readonly leasedAt: number
  readonly expiresAt: number
  readonly cancelRequestedAt: number | null
}

export interface ParkedRuns {
  readonly queue: string
  readonly reason: string
  readonly count: number
  /** There are more that were not counted. */
  readonly countIsAtLeast: boolean
  /** Of those counted, the one that has been parked longest. */
  readonly oldest: { readonly runId: string; readonly at: number }
}

export interface BrokenPart {
  readonly what: 'chain' | 'key-gate' | 'overlap-gate'
  /** The schedule, or the queue of a key. */
  readonly subject: string
  readonly sentence: string
}

export interface LaneBeyond {
  readonly queue: string
  /** The kind of their target; `null` where they have none, and wait for outside hosts. */
  readonly kind: string | null
  readonly name: string | null
  readonly count: number
  /** There are more that were not counted. */
  readonly countIsAtLeast: boolean
}

export interface ScheduleHealth {
  readonly name: string
  /** `null` where what is stored cannot be read. */
  readonly spec: ScheduleSpec | null
  /** Why this process cannot work it out. */
  readonly problem: string | null
  readonly failureCount: number
  readonly disabled: { readonly at: number; readonly reason: string } | null
  /** The governor has said that nothing follows. */
  readonly isDone: boolean
  readonly lastEndAt: number | null
  readonly lastSuccessAt: number | null
  /** When its next occurrence is due; `null` where that is not known yet, or nothing follows. */
  readonly nextDueAt: number | null
}
