import { z } from 'zod'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import type { KernelSource, RunSource } from '../../store/port.ts'
import { listHints, scheduleVersions } from '../../store/reads/find-schedule.ts'
import type { HintView, LedgerView, RunView, ScheduleView } from '../../store/views.ts'
import { appliedRule, candidate, type Reasoning, reasoningOf } from '../explain/candidates.ts'
import { decision, runSource } from '../explain/decision-schema.ts'
import { calendarsOf, rederive, rederived, type StoredDecision } from '../explain/rederive.ts'
import type { OperationContext } from '../operation-context.ts'
import { type AnswerOf, instantOutput, text } from '../schema/output-schema.ts'

export const planned = z
  .strictObject({
    source: runSource,
    sentence: text('The source in words.'),
    occurrenceAt: instantOutput('Its nominal instant.').nullable(),
    dueAt: instantOutput('When it was due: nominal instant plus spread.').nullable(),
    decision: decision.nullable(),
    candidates: z.array(candidate).describe('Each candidate for the instant, and its result.'),
    rules: z.array(appliedRule).describe('The rules applied to the winner, in order.'),
    rederived,
  })
  .describe('Why the run exists, and why at that instant.')
type Planned = AnswerOf<typeof planned>

const sourceSentences: { readonly [Of in Exclude<KernelSource, 'retry' | 'run-now' | 'test'>]: string } = {
  'baseline-cron': 'The calendar of its schedule gave the instant.',
  'baseline-interval': 'The interval of its schedule gave the instant.',
  'baseline-once': 'It is the one instant of its schedule.',
  'ai-interval': 'An interval hint gave the instant.',
  'ai-oneshot': 'A one-shot hint gave the instant.',
  'clamped-min': 'The requested instant was too soon, and min, or everyMin of the namespace, moved it later.',
  'clamped-max': 'The requested instant was too late, and max moved it earlier.',
  'clamped-window': 'The hint fell outside the window of its schedule, and the run was planned for an open minute.',
  'clamped-calendar': 'A calendar was closed at the requested instant, and the run was planned for open hours.',
  paused: 'Its schedule was paused.',
  disabled: 'Its schedule was disabled.',
  none: 'No rule gave an instant.',
  enqueued: 'It was enqueued directly.',
}

type RunOrigins = Pick<RunView, 'retryOf' | 'scheduleId' | 'payload'>

function sentenceOf({ origins }: OperationContext, source: RunSource, told: RunOrigins): string {
  const { retryOf, scheduleId } = told
  const origin = Object.hasOwn(origins, source) ? origins[source] : undefined
  if (origin !== undefined) return origin.sentence(told)
  if (source === 'retry') return `It is a retry of ${retryOf ?? 'a run that has ended'}.`
  if (source === 'test') return 'It tests a schedule, and changes nothing of that schedule.'
  if (source === 'run-now') return 'Its schedule was run by hand, which does not move its occurrences.'
  const sentence = sourceSentences[source as keyof typeof sourceSentences] ?? `It comes from ${source}.`
  return scheduleId === null && source !== 'enqueued' ? 'Its schedule gave the instant.' : sentence
}

/** Why a run was planned, derived again by the governor. */
export async function plannedOf(context: OperationContext, run: RunView, schedule: ScheduleView | null) {
  const { occurrenceAt, dueAt, source } = run
  const stored = run.decision === null ? null : { ...run.decision, source, plannedAt: occurrenceAt, dueAt }
  return toldPlan(context, schedule, {
    ...{ source, occurrenceAt, dueAt, decision: run.decision },
    sentence: sentenceOf(context, source, run),
    stored,
    keepsMemory: true,
  })
}

/** The same for a removed run, from its schedule's ledger. */
export async function plannedByLedger(
  context: OperationContext,
  schedule: ScheduleView,
  { from, decision }: LedgerView,
) {
  const source = decision?.source ?? 'none'
  const stored = decision === null ? null : { ...decision, plannedAt: from }
  return toldPlan(context, schedule, {
    source,
    occurrenceAt: from,
    dueAt: null,
    decision: decision === null ? null : { at: decision.at, version: decision.version, trail: decision.trail },
    sentence: sentenceOf(context, source, { retryOf: null, scheduleId: schedule.id, payload: undefined }),
    stored,
    keepsMemory: false,
  })
}

interface Plan extends Omit<Planned, keyof Reasoning | 'rederived'> {
  readonly stored: StoredDecision | null
  readonly keepsMemory: boolean
}

async function toldPlan(context: OperationContext, schedule: ScheduleView | null, plan: Plan): Promise<Planned> {
  const { stored, keepsMemory, ...told } = plan
  const hints = schedule === null ? [] : await hintsOf(context, schedule)
  const spec = schedule === null || stored === null ? null : await specOf(context, schedule, stored.version)
  const named = schedule ?? { id: '', createdAt: 0 }
  const calendars = await calendarsOf(context, stored)
  const again = rederive({ decision: stored, spec, enabled: true, keepsMemory, schedule: named, calendars })
  return { ...told, ...reasoningOf(stored, hints), rederived: again }
}

function hintsOf({ store }: OperationContext, { id }: ScheduleView): Promise<HintView[]> {
  return store.look(listHints, id)
}

async function specOf(
  { store }: OperationContext,
  { id, version, spec }: ScheduleView,
  wanted: number,
): Promise<ScheduleSpec | null> {
  if (version === wanted) return spec
  const versions = await store.look(scheduleVersions, id)
  return versions.find((one) => one.version === wanted)?.content ?? null
}
