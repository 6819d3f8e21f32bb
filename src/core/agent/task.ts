import type { CallerKind } from '../caller.ts'
import type { AnswerRules } from '../run/expect.ts'

/** What a task has besides its schedule: a prompt of its author, and the rules for prompts. */
export interface TaskFacts {
  /** Eight hex digits. The spread of the task is computed from them. */
  readonly id: string
  readonly author: string
  /** Whether a person or an agent created the task. */
  readonly by: CallerKind
  /** The real path of the project that it belongs to: the root of its checkout, or its folder. */
  readonly project: string
  /** The run in which an agent created the task. */
  readonly run?: string | undefined
  /** The parent of a task that an agent planned in a run: the name of the schedule, or the run. */
  readonly parent?: string | undefined
  /** Each run of the task decides when the next run is. */
  readonly pace?: 'self' | undefined
  /** The task ends with the first answer that matches. */
  readonly untilAnswer?: AnswerRules | undefined
  /** The session that owns the task; the task ends with it. Absent: the task is stored for good. */
  readonly session?: string | undefined
  /** The first occurrence at or after this instant is the last. */
  readonly expiresAt?: number | undefined
}

/** How many unfinished tasks a project may have. */
export const tasksOfProjectMax = 50
/** The same request by the same author within this time returns the same task. */
export const sameTaskMs = 60_000
/** How long the tasks of agents last. */
export const agentExpiryMs = 7 * 86_400_000

export interface ExpiryInput {
  readonly now: number
  readonly by: CallerKind
  /** The expiry that the caller requests. */
  readonly wantedAt?: number | undefined
  readonly isPermanent?: boolean | undefined
}

/**
 * When a task expires; `undefined`: never. A task of an agent lasts at most seven days, whatever the agent requests.
 */
export function expiryOf({ now, by, wantedAt, isPermanent = false }: ExpiryInput): number | undefined {
  if (by === 'person') return isPermanent ? undefined : wantedAt
  return Math.min(wantedAt ?? Number.POSITIVE_INFINITY, now + agentExpiryMs)
}
