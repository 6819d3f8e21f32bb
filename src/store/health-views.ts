import type { ScheduleSpec } from '../core/schedule/schedule-spec.ts'

export interface StoreCondition {
  readonly database: DatabaseCondition
  readonly schema: { readonly found: number; readonly known: number }
}

export interface DatabaseCondition {
  readonly kind: 'SQLite' | 'PostgreSQL'
  readonly version: string
  /** The file of the store; `null` where this process can inspect none. */
  readonly file: FileCondition | null
  /** The store disappears with this process. */
  readonly isEphemeral: boolean
  /** Settings that let a crash lose acknowledged work. */
  readonly risks: readonly RiskySetting[]
}

export interface FileCondition {
  readonly bytes: number
  /** Bytes of the file that are free and will be reused. */
  readonly freeBytes: number
  readonly logBytes: number
  /** Above this size the log should be truncated. */
  readonly logBytesMax: number
  /** The network file system that holds the file; file locks do not work across it. */
  readonly network: string | null
}

export interface RiskySetting {
  readonly setting: string
  readonly is: string
  /** The command that fixes it. */
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
  /** The count stopped at a limit. */
  readonly countIsAtLeast: boolean
  /** Of those counted, the run that has been parked longest. */
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
  /** The kind of their target; `null` for runs without a target, which wait for outside hosts. */
  readonly kind: string | null
  readonly name: string | null
  readonly count: number
  /** The count stopped at a limit. */
  readonly countIsAtLeast: boolean
}

export interface ScheduleHealth {
  readonly name: string
  /** `null` where the stored spec cannot be read. */
  readonly spec: ScheduleSpec | null
  /** Why this process cannot evaluate it. */
  readonly problem: string | null
  readonly failureCount: number
  readonly disabled: { readonly at: number; readonly reason: string } | null
  /** The governor decided that no occurrence follows. */
  readonly isDone: boolean
  readonly lastEndAt: number | null
  readonly lastSuccessAt: number | null
  /** When its next occurrence is due; `null` where that is not known yet, or none follows. */
  readonly nextDueAt: number | null
}
