import { CronError } from '../../core/cron/cron-error.ts'
import type { Decision } from '../../core/schedule/decision.ts'
import { spreadDueAt, writtenAt } from '../../core/schedule/due.ts'
import type { Source, TrailStep, Winner } from '../../core/schedule/governor.ts'
import { answerTo, type Unmeasured } from '../../core/schedule/governor-question.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { gridOf } from '../../core/timing/timing.ts'
import type { RunSource } from '../../store/port.ts'
import { isoText } from '../input/instant.ts'

/** Whether a decision comes out again when the governor is asked again with what it was asked then. */
export interface Rederived {
  /**
   * `not-asked`: the governor never was. `pruned`: what it was asked with is not kept any more. `unworkable`: this
   * machine cannot ask it, say for want of a time zone.
   */
  readonly answer: 'same' | 'differs' | 'pruned' | 'not-asked' | 'unworkable'
  readonly sentence: string
  /** What came out otherwise. */
  readonly differs: readonly { readonly field: string; readonly stored: string; readonly again: string }[]
}

/** A decision as it is stored, with what it decided. What is left out was not stored with it. */
export interface StoredDecision extends Decision {
  readonly unmeasured?: Unmeasured | undefined
  readonly source: RunSource
  readonly winner?: Winner | null | undefined
  readonly waitsForEnd?: boolean | undefined
  readonly plannedAt?: number | null | undefined
  readonly dueAt?: number | null | undefined
}

export interface RederiveInput {
  readonly decision: StoredDecision | null
  /** The spec of the version it was decided by; null where that is not kept. */
  readonly spec: ScheduleSpec | null
  readonly enabled: boolean
  /** Whether the memory it was decided from would be kept with it; the ledger keeps only reasons. */
  readonly keepsMemory: boolean
  /** The schedule, by which occurrences are spread. */
  readonly schedule: { readonly id: string; readonly createdAt: number }
}

/** Asks the governor again with the stored spec, memory and instant, and compares. */
export function rederive(input: RederiveInput): Rederived {
  try {
    return compared(input)
  } catch (error) {
    if (error instanceof CronError) return told('unworkable', `This machine cannot work it out: ${error.message}`)
    throw error
  }
}

function compared({ decision, spec, enabled, keepsMemory, schedule }: RederiveInput): Rederived {
  if (decision === null) return told('not-asked', 'The governor was not asked.')
  if (spec === null) {
    return told('pruned', `Version ${decision.version} of the schedule, by which it was decided, is not kept any more.`)
  }
  if (decision.state === undefined && !keepsMemory) {
    return told('pruned', 'The memory that the governor answered from went with the run; only its reasons are kept.')
  }
  if (decision.state === undefined) return ofCalendar(decision, spec)
  const again = answerTo(spec, decision, enabled)
  const stored = decision.plannedAt
  const due = stored == null || again.winner !== 'baseline' ? stored : dueAgain(decision, spec, schedule, stored)
  const differs = [
    ...differing('at', stored, again.at, instantText),
    ...differing('dueAt', decision.dueAt, due ?? null, instantText),
    ...differing('source', decision.source, again.source, String),
    ...differing('winner', decision.winner, again.winner, String),
    ...differing('waitsForEnd', decision.waitsForEnd, again.waitsForEnd, String),
    ...differing('trail', trailText(decision.trail), trailText(again.trail), String),
  ]
  if (differs.length === 0) return told('same', 'Asked again with what was stored, the governor answers the same.')
  const fields = differs.map(({ field }) => field).join(', ')
  return { ...told('differs', `Asked again with what was stored, the governor answers otherwise: ${fields}.`), differs }
}

function told(answer: Rederived['answer'], sentence: string): Rederived {
  return { answer, sentence, differs: [] }
}

/** What came while no worker looked was named by the calendar alone, and the calendar can be asked again. */
function ofCalendar(decision: StoredDecision, { timing, startAt }: ScheduleSpec): Rederived {
  const { plannedAt } = decision
  if (timing.cron === undefined || plannedAt == null) {
    return told('not-asked', 'It came while no worker looked: the grid named it, and the governor was not asked.')
  }
  const isNamed = gridOf({ timing, startAt, gridAnchorAt: plannedAt })?.atOrAfter(plannedAt) === plannedAt
  const source: Source = 'baseline-cron'
  if (isNamed && decision.source === source) {
    return told('same', 'It came while no worker looked; the calendar, asked again, names the same instant.')
  }
  const differs = [{ field: 'at', stored: isoText(plannedAt), again: 'no instant of the calendar' }]
  return { ...told('differs', 'It came while no worker looked; the calendar, asked again, does not name it.'), differs }
}

function dueAgain(decision: StoredDecision, spec: ScheduleSpec, schedule: RederiveInput['schedule'], at: number) {
  const { id, createdAt } = schedule
  const anchorAt = decision.state?.anchorAt ?? decision.at
  const { timing, spread } = spec
  return spreadDueAt(at, { id, timing, spread, createdAt: writtenAt({ spec, createdAt, anchorAt }) })
}

function differing<Value>(
  field: string,
  stored: Value | undefined,
  again: Value,
  textOf: (value: Value) => string,
): Rederived['differs'] {
  return stored === undefined || stored === again ? [] : [{ field, stored: textOf(stored), again: textOf(again) }]
}

function instantText(at: number | null): string {
  return at === null ? 'none' : isoText(at)
}

function trailText(trail: readonly TrailStep[]): string {
  return trail
    .map(({ rule, from, at, effect, why }) => `${rule} ${effect} ${instantText(from)} to ${instantText(at)}: ${why}`)
    .join('; ')
}
