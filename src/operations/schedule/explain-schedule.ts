import { z } from 'zod'
import { type Hold, type HoldFiring, isInForce, workOfSchedule } from '../../core/hold.ts'
import { holdSentence } from '../../core/hold-reason.ts'
import type { NamedCalendar } from '../../core/opening/closings.ts'
import { overlapOf } from '../../core/schedule/overlap.ts'
import type { ScheduleSpec } from '../../core/schedule/schedule-spec.ts'
import { backedOffEveryMs } from '../../core/timing/schedule-backoff.ts'
import { holdsOn } from '../../store/holds/list-holds.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { listHints, listLedger, scheduleVersions } from '../../store/reads/find-schedule.ts'
import { listRuns } from '../../store/reads/list-runs.ts'
import type { ScheduleView } from '../../store/views.ts'
import { reasoningOf } from '../explain/candidates.ts'
import { retriesHeld } from '../explain/explain-retries.ts'
import { type Fleet, fleetOf, takersOf } from '../explain/fleet.ts'
import { calendarsOf, type Rederived, rederive } from '../explain/rederive.ts'
import { waysOfHold } from '../explain/unblock.ts'
import { scheduleName } from '../fields/basic-fields.ts'
import { presentSchedule } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { policyUnreadable } from '../reasons/run-reasons.ts'
import { problemOf, type ScheduleCode, type ScheduleFacts } from '../reasons/schedule-reasons.ts'
import { runSituationOf } from '../run/run-situation.ts'
import { explainHint } from './explained-hint.ts'
import { explainLedger } from './explained-ledger.ts'
import { lastFailureOf } from './last-failure.ts'
import { type AwaitedRun, type ScheduleExplained, scheduleExplained } from './schedule-explained.ts'
import { awaitedRun, isPausedAt, scheduleSituationOf } from './schedule-situation.ts'
import { readUpcoming } from './upcoming.ts'

const hintsShownMax = 5
const endsShownMax = 5
const liveShownMax = 5

export const explain = operation({
  noun: 'schedule',
  verb: 'explain',
  namesWorkers: true,
  meantBy: /^(?!r-[0-9a-z]+$)/,
  defaultTool: 'Explain why a schedule runs next when it does, or why it does not run, and what would change that.',
  command: ['explain', 'schedule'],
  says: 'Explain why a schedule runs next when it does, or why it does not run.',
  request: 'an explanation of a schedule',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({ name: scheduleName.describe('The name of the schedule, or the id of a deleted one.') }),
  takes: ['name'],
  output: scheduleExplained,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  show: { load: async () => (await import('./show-explained-schedule.ts')).showScheduleExplained },
  examples: [{ name: 'nightly' }],
  run: async (context, { name }) => explained(context, name, await presentSchedule(context, name)),
})

/** States whose sentence already says that no worker is alive. */
const saysWhoIsAlive: ReadonlySet<ScheduleCode> = new Set(['overdue', 'due-now', 'pause-over'])

/** Combines what is stored of a schedule with what the pure functions compute now. */
async function explained(context: OperationContext, name: string, schedule: ScheduleView): Promise<ScheduleExplained> {
  const { store } = context
  const fleet = await fleetOf(context)
  const { now } = fleet
  const [awaited, hints, rows, live, lane, holds, spec, calendars, failure] = await Promise.all([
    awaitedOf(context, schedule, fleet),
    store.look(listHints, name),
    store.look(listLedger, name, { limit: endsShownMax }),
    liveRunsOf(context, schedule),
    laneOf(context, schedule),
    store.look(holdsOn, workOfSchedule(schedule.spec)),
    specOf(context, name, schedule),
    calendarsOf(context, schedule.nextDecision),
    schedule.failureCount === 0 ? null : lastFailureOf(store, schedule.id),
  ])
  const { spec: today, nextDecision: decision, wakeAt } = schedule
  const isWorkable = problemOf(schedule) === null
  const workers = takersOf({ target: today.target, queue: today.queue ?? 'default' }, fleet)
  const { holdReasons: reasons } = context
  const { inForce, ...kept } = keptBy(holds, schedule, now)
  const standing = scheduleSituationOf({ schedule, fleet, awaited, ...kept, reasons, failure })
  const others = inForce.filter((hold) => !isNamed(hold, standing.code, kept))
  const isSaid = workers.live === 0 && saysWhoIsAlive.has(standing.code)
  const reasoning = reasoningOf(decision, hints)
  const question = { schedule, now, candidates: reasoning.candidates }
  const parts = await Promise.all((context.scheduleNotes ?? []).map((explains) => explains(context, question)))
  return {
    schedule: today.name,
    id: schedule.id,
    zone: today.timing.cron === undefined ? null : today.timing.zone,
    at: now,
    ...standing,
    unblock: [...standing.unblock, ...others.filter(isSkipping).flatMap((hold) => waysOfHold(hold, reasons))],
    lateMs: wakeAt === null || wakeAt > now ? null : now - wakeAt,
    next: isWorkable ? ((await readUpcoming(store, { now, schedule, count: 1 }))[0] ?? null) : null,
    decision,
    ...reasoning,
    rederived: rederived(schedule, spec, now, calendars),
    spread: spreadOf(schedule),
    backoff: backoffOf(schedule),
    retries: retriesHeld(today.options, 'schedule', lane.policy),
    hints: hints.slice(0, hintsShownMax).map((hint) => explainHint(hint, schedule.hints, now)),
    waitsFor: awaited,
    live,
    last: await explainLedger(context, rows),
    workers,
    parts: parts.filter(({ lines }) => lines.length > 0),
    notes: [
      ...lane.notes,
      ...others.map((hold) => `${holdSentence(hold, reasons)} ${underHold[hold.firing]}`),
      ...(workers.able === 0 && !isSaid ? [`${workers.sentence} Its runs would wait.`] : []),
      ...(awaited === null ? overlapNote(today, live) : []),
      ...(rows.length === 0 && schedule.lastPlannedAt !== null ? ['Its older history was removed by retention.'] : []),
    ],
  }
}

/** The holds in force on a schedule, and among them those that may decide how it stands. */
function keptBy(holds: readonly Hold[], { nextDueAt }: ScheduleView, now: number) {
  const inForce = holds.filter((hold) => isInForce(hold, now))
  const nextAt = Math.max(now, nextDueAt ?? now)
  return {
    inForce,
    stop: inForce.find(({ firing }) => firing === 'nothing') ?? null,
    held: inForce.find(({ scope, firing }) => scope === 'schedule' && firing === 'waits') ?? null,
    skipping: inForce.find((hold) => isSkipping(hold) && isInForce(hold, nextAt)) ?? null,
  }
}

/** Whether the sentence of this code names the hold, so that it is not named again. */
function isNamed(
  hold: Hold,
  code: ScheduleCode,
  { stop, held, skipping }: Pick<ScheduleFacts, 'stop' | 'held' | 'skipping'>,
): boolean {
  return hold === stop || (code === 'held' && hold === held) || (code === 'skips' && hold === skipping)
}

function isSkipping({ firing }: Hold): boolean {
  return firing === 'skips'
}

/** What happens to the occurrences of a held schedule. */
const underHold: Readonly<Record<HoldFiring, string>> = {
  nothing: 'Nothing fires.',
  waits: 'Its runs would wait.',
  skips: 'Its occurrences end without a run.',
}

/** The run whose end a fixed delay waits for, and its state. */
async function awaitedOf(context: OperationContext, schedule: ScheduleView, fleet: Fleet): Promise<AwaitedRun | null> {
  const run = schedule.waitsFor === null ? null : await context.store.look(findRun, schedule.waitsFor)
  return run === null ? null : awaitedRun(run, await runSituationOf(context, run, fleet))
}

async function liveRunsOf({ store }: OperationContext, { id }: ScheduleView): Promise<string[]> {
  const statuses = ['leased', 'ready', 'held'] as const
  const pages = await Promise.all(
    statuses.map((status) => store.look(listRuns, { schedule: id, status, limit: liveShownMax })),
  )
  return pages.flatMap(({ runs }) => runs.map((run) => run.id)).slice(0, liveShownMax)
}

/** How the queue of a schedule affects its runs. */
async function laneOf({ store }: OperationContext, { spec }: ScheduleView) {
  const name = spec.queue ?? 'default'
  const queue = await store.look(findQueue, name)
  if (queue === null) return { policy: null, notes: [] }
  if (queue.policy === null) {
    const note = `${policyUnreadable(name).sentence} Its runs would wait there.`
    return { policy: null, notes: [note] }
  }
  return { policy: queue.policy, notes: [] }
}

/** The spec that decided the next instant; null when that version is not kept. */
async function specOf({ store }: OperationContext, name: string, schedule: ScheduleView): Promise<ScheduleSpec | null> {
  const { nextDecision, version, spec } = schedule
  if (nextDecision === null || nextDecision.version === version) return spec
  const versions = await store.look(scheduleVersions, name)
  return versions.find((one) => one.version === nextDecision.version)?.content ?? null
}

/** While it is paused or waits for a run, the plan has no instant to compare. */
function rederived(
  schedule: ScheduleView,
  spec: ScheduleSpec | null,
  now: number,
  calendars: readonly NamedCalendar[] | null,
): Rederived {
  const { nextDecision, nextRunAt, nextDueAt, waitsFor, disabled } = schedule
  const isPlanned = waitsFor === null && !isPausedAt(schedule, now) && nextDecision?.source !== 'paused'
  const instants = isPlanned ? { plannedAt: nextRunAt, dueAt: nextDueAt } : {}
  const decision = nextDecision === null ? null : { ...nextDecision, ...instants }
  return rederive({ decision, spec, enabled: disabled === null, keepsMemory: true, schedule, calendars })
}

function spreadOf({ spec, nextRunAt, nextDueAt, nextDecision }: ScheduleView): ScheduleExplained['spread'] {
  if (spec.spread === undefined || nextRunAt === null || nextDueAt === null) return null
  const offsetMs = nextDueAt - nextRunAt
  if (nextDecision?.winner !== 'baseline') return { offsetMs, why: 'hints are not spread' }
  if (offsetMs === 0) return { offsetMs, why: 'its offset is 0 at this instant' }
  const way = offsetMs > 0 ? 'later, by a fraction of its period' : 'earlier, so that it is done by its instant'
  const by = nextDecision.spread === undefined ? '' : `, by version ${nextDecision.spread.version} of the settings`
  return { offsetMs, why: `moved ${way}${by}; the offset follows from its id and is always the same` }
}

function backoffOf({ spec, failureCount }: ScheduleView): ScheduleExplained['backoff'] {
  const { everyMs } = spec.timing
  if (everyMs === undefined || failureCount === 0) return null
  const waitMs = backedOffEveryMs({ everyMs, failureCount })
  const why = 'each failure in a row doubles the wait, five times at most; the first success ends it'
  return { failures: failureCount, everyMs, waitMs, why }
}

function overlapNote(spec: ScheduleSpec, live: readonly string[]): string[] {
  const [first] = live
  const mode = overlapOf(spec)
  if (first === undefined || mode === 'allow') return []
  const becomes = {
    skip: 'an occurrence that comes due before that run ends is skipped',
    queue: 'an occurrence that comes due before that run ends waits for its end',
    cancel: 'an occurrence that comes due before that run ends replaces that run',
  }[mode]
  return [`${first} of it is live: ${becomes} (overlap ${mode}).`]
}
