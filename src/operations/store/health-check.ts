import { isDamage, isPassing } from '../../core/error.ts'
import type { Unblock } from '../explain/unblock.ts'
import type { ReasonWords } from '../reasons/catalogue.ts'
import type { RunCode } from '../reasons/run-reasons.ts'
import type { ScheduleCode } from '../reasons/schedule-reasons.ts'
import type { Finding } from './diagnosis.ts'
import type { Inspection } from './inspection.ts'

/** More findings of one check are counted and not listed. */
export const findingsMax = 20

/** The result of a check: one sentence, and findings. */
export interface Seen {
  readonly says: string
  readonly findings?: readonly Finding[]
}

/** A check, and its fix where one is safe. Its texts are also the documents. */
export interface HealthCheck extends ReasonWords {
  readonly check: string
  /** Whether work goes on while this check is wrong: `/health` then answers degraded instead of unhealthy. */
  readonly stopsNothing?: true
  /** What `fix` does; absent where it does nothing. */
  readonly mends?: string
  /** The explain codes that report the same for one run or schedule. */
  readonly codes?: readonly (RunCode | ScheduleCode)[]
  look(inspection: Inspection): Promise<Seen>
  /** Repairs what is safe to repair, and returns what it did. */
  mend?(inspection: Inspection): Promise<readonly Finding[]>
}

export function wrong(subject: string, says: string, next: string): Finding {
  return { subject, state: 'wrong', says, next }
}

export function note(subject: string, says: string, next: string): Finding {
  return { subject, state: 'note', says, next }
}

export function fixed(found: Omit<Finding, 'next' | 'fixed'>, sentence: string): Finding {
  return { ...found, next: null, fixed: sentence }
}

export const fixCommand = 'belfry doctor --fix'
export const upCommand = 'belfry up'

export function nextOf({ what, command }: Unblock): string {
  return command ?? what
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Like `counted`, for a count that may be incomplete. */
export function countedAtLeast(count: number, isAtLeast: boolean, noun: string): string {
  return `${isAtLeast ? 'at least ' : ''}${counted(count, noun)}`
}

/** A check that failed to run. The others still run, unless the store is away. A damaged store is reported in each. */
export function failed(error: unknown): Seen {
  if (isPassing(error) && !isDamage(error)) throw error
  const { message, hint } = error as Error & { hint?: string }
  return {
    says: 'This check could not run.',
    findings: [wrong('this check', message, hint ?? 'Correct what the message names, and run doctor again.')],
  }
}
