import { isDamage, isPassing } from '../../core/error.ts'
import type { Unblock } from '../explain/unblock.ts'
import type { ReasonWords } from '../reasons/catalogue.ts'
import type { RunCode } from '../reasons/run-reasons.ts'
import type { ScheduleCode } from '../reasons/schedule-reasons.ts'
import type { Finding } from './diagnosis.ts'
import type { Inspection } from './inspection.ts'

/** More of one check are counted, and not listed. */
export const findingsMax = 20

/** What a check saw: one sentence, and whatever somebody has to know. */
export interface Seen {
  readonly says: string
  readonly findings?: readonly Finding[]
}

/** One thing that is looked at, and how it is mended where that is safe. Its words are for the documents. */
export interface HealthCheck extends ReasonWords {
  readonly check: string
  /** Whether work goes on while it is wrong: then `/health` says degraded, and not unhealthy. */
  readonly stopsNothing?: true
  /** What `fix` does about it; absent where it does nothing. */
  readonly mends?: string
  /** The codes by which explain tells the same of one run or schedule. */
  readonly codes?: readonly (RunCode | ScheduleCode)[]
  look(inspection: Inspection): Promise<Seen>
  /** Mends what is safe to mend, and answers what it has done. */
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

/** The command that mends what is safe to mend. */
export const fixCommand = 'belfry doctor --fix'
export const upCommand = 'belfry up'

/** What to do, as a command where there is one. */
export function nextOf({ what, command }: Unblock): string {
  return command ?? what
}

/** `1 run`, `2 runs`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}

/** Like `counted`, of what was not counted to its end. */
export function countedAtLeast(count: number, isAtLeast: boolean, noun: string): string {
  return `${isAtLeast ? 'at least ' : ''}${counted(count, noun)}`
}

/** A check that could not be made: the others are made all the same, unless the store is away. Of a damaged one each may be told. */
export function failed(error: unknown): Seen {
  if (isPassing(error) && !isDamage(error)) throw error
  const { message, hint } = error as Error & { hint?: string }
  return {
    says: 'This could not be looked at.',
    findings: [wrong('this check', message, hint ?? 'Mend what it names, and look again.')],
  }
}
