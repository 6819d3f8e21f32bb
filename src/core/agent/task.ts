import type { CallerKind } from '../caller.ts'
import type { AnswerRules } from '../run/expect.ts'

/** What a task is besides a schedule: a prompt of its author, with the manners of prompts. */
export interface TaskFacts {
  /** Eight hex digits. Its spread comes from them. */
  readonly id: string
  readonly author: string
  /** Whether a person or an agent made it. */
  readonly by: CallerKind
  /** The real path of the project that it belongs to: the root of its checkout, or its folder. */
  readonly project: string
  /** The run in which an agent made it. */
  readonly run?: string | undefined
  /** What planned it, where an agent did so in a run: the name of the schedule, or the run. */
  readonly parent?: string | undefined
  /** Each run of it says when the next one is. */
  readonly pace?: 'self' | undefined
  /** It ends with the first answer that fits. */
  readonly untilAnswer?: AnswerRules | undefined
  /** The session that it lives and ends with. Absent: the store keeps it. */
  readonly session?: string | undefined
  /** The first occurrence at or after this instant is the last. */
  readonly expiresAt?: number | undefined
}

/** How many unfinished tasks a project may have. */
export const tasksOfProjectMax = 50
/** Asked for twice within this time, by the same author, it is the same task. */
export const sameTaskMs = 60_000
/** How long the tasks of agents last. */
export const agentExpiryMs = 7 * 86_400_000

export interface ExpiryInput {
  readonly now: number
  readonly by: CallerKind
  /** When the caller wants it to expire. */
  readonly wantedAt?: number | undefined
  readonly isPermanent?: boolean | undefined
}

/** When a task expires; `undefined`: never. A task of an agent lasts at most seven days, whatever the agent wants. */
export function expiryOf({ now, by, wantedAt, isPermanent = false }: ExpiryInput): number | undefined {
  if (by === 'person') return isPermanent ? undefined : wantedAt
  return Math.min(wantedAt ?? Number.POSITIVE_INFINITY, now + agentExpiryMs)
}
