import { z } from 'zod'
import { CronError } from '../../core/cron/cron-error.ts'
import type { NamedCalendar } from '../../core/opening/closings.ts'
import type { Decision } from '../../core/schedule/decision.ts'
import { spreadDueAt, spreadId, writtenAt } from '../../core/schedule/due.ts'
import type { Source, TrailStep, Winner } from '../../core/schedule/governor.ts'
import { answerTo, type Unmeasured } from '../../core/schedule/governor-question.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { settledSpread } from '../../core/setting.ts'
import { gridOf } from '../../core/timing/timing.ts'
import { calendarsBehind } from '../../store/calendars/named-calendars.ts'
import type { RunSource } from '../../store/port.ts'
import { isoText } from '../input/instant.ts'
import type { OperationContext } from '../operation-context.ts'
import { type AnswerOf, text } from '../schema/output-schema.ts'
import { noted } from '../schema/schema-note.ts'

export const rederived = noted(
  z
    .strictObject({
      answer: z
        .enum(['same', 'differs', 'pruned', 'not-asked', 'unworkable'])
        .describe('Whether the result is the same, or why it cannot be checked.'),
      sentence: text('The same in words.'),
      differs: z
        .array(
          z.strictObject({
            field: text('The field that differs.'),
            stored: text('The stored value.'),
            again: text('The value computed now.'),
          }),
        )
        .describe('The fields that differ.'),
    })
    .describe('Whether the governor gives the same answer again for the stored input.'),
  { id: 'Rederived' },
)

/** `not-asked`: the governor did not decide it. `pruned`: its input is not kept any more. `unworkable`: this machine cannot compute it, for example without the time zone. */
export type Rederived = AnswerOf<typeof rederived>

/** A stored decision and its result. An absent field was not stored. */
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
  /** The spec of the schedule version that it was decided by; null when it is not kept. */
  readonly spec: ScheduleSpec | null
  readonly enabled: boolean
  /** Whether the memory behind the decision is stored with it; the ledger stores only reasons. */
  readonly keepsMemory: boolean
  /** The schedule: its spread is derived from its id, or from that of the task that it is. */
  readonly schedule: { readonly id: string; readonly createdAt: number }
  /** The calendars behind the decision, with their hours at that time; null when those hours are no longer stored. */
  readonly calendars: readonly NamedCalendar[] | null
}

/** The calendars behind a decision. */
export async function calendarsOf({ store }: OperationContext, decision: Pick<Decision, 'calendars'> | null) {
  const refs = decision?.calendars ?? []
  return refs.length === 0 ? [] : store.look(calendarsBehind, refs)
}

export function rederive(input: RederiveInput): Rederived {
  try {
    return compared(input)
  } catch (error) {
    if (error instanceof CronError) return told('unworkable', `This machine cannot compute it: ${error.message}`)
    throw error
  }
}

function compared(input: RederiveInput): Rederived {
  const { decision, spec, enabled, keepsMemory, calendars } = input
  if (decision === null) return told('not-asked', 'The governor did not decide it.')
  if (spec === null) {
    return told('pruned', `Version ${decision.version} of the schedule, which decided it, is not kept any more.`)
  }
  if (decision.state === undefined && !keepsMemory) {
    return told(
      'pruned',
      'The state that the governor decided from was removed with the run; only its reasons are kept.',
    )
  }
  if (decision.state === undefined) return ofCalendar(decision, spec)
  if (calendars === null) return told('pruned', 'The hours of a calendar that decided it are not kept any more.')
  const again = answerTo(spec, decision, enabled, calendars)
  const stored = decision.plannedAt
  const due = stored == null || again.winner !== 'baseline' ? stored : dueAgain(decision, spec, input, stored)
  const differs = [
    ...differing('at', stored, again.at, instantText),
    ...differing('dueAt', decision.dueAt, due ?? null, instantText),
    ...differing('source', decision.source, again.source, String),
    ...differing('winner', decision.winner, again.winner, String),
    ...differing('waitsForEnd', decision.waitsForEnd, again.waitsForEnd, String),
    ...differing('trail', trailText(decision.trail), trailText(again.trail), String),
  ]
  if (differs.length === 0) return told('same', 'For the stored input the governor gives the same answer.')
  const fields = differs.map(({ field }) => field).join(', ')
  return { ...told('differs', `For the stored input the governor gives another answer: ${fields}.`), differs }
}

function told(answer: Rederived['answer'], sentence: string): Rederived {
  return { answer, sentence, differs: [] }
}

/** Occurrences during an outage come from the calendar alone, which can be computed again. */
function ofCalendar(decision: StoredDecision, { timing, startAt }: ScheduleSpec): Rederived {
  const { plannedAt } = decision
  if (timing.cron === undefined || plannedAt == null) {
    return told('not-asked', 'It came due while no worker ran: the interval grid gave the instant, not the governor.')
  }
  const isNamed = gridOf({ timing, startAt, gridAnchorAt: plannedAt })?.atOrAfter(plannedAt) === plannedAt
  const source: Source = 'baseline-cron'
  if (isNamed && decision.source === source) {
    return told('same', 'It came due while no worker ran; the calendar gives the same instant again.')
  }
  const differs = [{ field: 'at', stored: isoText(plannedAt), again: 'no instant of the calendar' }]
  return {
    ...told('differs', 'It came due while no worker ran; the calendar does not give that instant now.'),
    differs,
  }
}

function dueAgain(decision: StoredDecision, spec: ScheduleSpec, { schedule, calendars }: RederiveInput, at: number) {
  const { id, createdAt } = schedule
  const anchorAt = decision.state?.anchorAt ?? decision.at
  const { timing } = spec
  const spread = spec.spread === 'settings' ? (decision.spread ?? settledSpread()) : spec.spread
  const written = writtenAt({ spec, createdAt, anchorAt })
  return spreadDueAt(at, {
    id: spreadId({ id, spec }),
    timing,
    spread,
    createdAt: written,
    calendars: calendars ?? undefined,
  })
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
