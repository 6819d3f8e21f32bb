import { z } from 'zod'
import { BelfryError } from '../../core/error.ts'
import { isEnded } from '../../core/run/run-state.ts'
import { findQueue } from '../../store/reads/find-queue.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { findSchedule, listLedger } from '../../store/reads/find-schedule.ts'
import { listAttempts } from '../../store/reads/list-attempts.ts'
import type { LedgerView, RunView, ScheduleView } from '../../store/views.ts'
import { retriesHeld } from '../explain/explain-retries.ts'
import { type Fleet, fleetOf } from '../explain/fleet.ts'
import { name, runId } from '../fields/basic-fields.ts'
import { quoted } from '../input/refuse-input.ts'
import { presentSchedule } from '../not-found.ts'
import { everyDoor, operation } from '../operation.ts'
import type { OperationContext } from '../operation-context.ts'
import { runReasons, whatItWrote } from '../reasons/run-reasons.ts'
import { problemOf } from '../reasons/schedule-reasons.ts'
import { explainLedger } from '../schedule/explained-ledger.ts'
import { readUpcoming } from '../schedule/upcoming.ts'
import { type ExplainedAttempt, explainAttempts } from './explained-attempts.ts'
import { plannedByLedger, plannedOf } from './planned.ts'
import { type RunExplained, runExplained, type ScheduleOfRun } from './run-explained.ts'
import { type RunSituation, runSituationOf } from './run-situation.ts'
import { latenessOf, type TimelineEvent, timelineOf } from './timeline.ts'

export const explain = operation({
  noun: 'run',
  verb: 'explain',
  namesWorkers: true,
  meantBy: /^r-[0-9a-z]+$/,
  command: ['explain', 'run'],
  says: 'Explain why a run was planned, what happened to it, and what it waits for.',
  request: 'an explanation of a run',
  effect: 'read',
  scope: 'read',
  input: z.strictObject({
    id: runId,
    schedule: name
      .describe(
        'The schedule whose ledger to search for a run that retention removed: its name, or the id of a deleted schedule.',
      )
      .optional(),
  }),
  takes: ['id'],
  output: runExplained,
  errors: ['invalid', 'not-found'],
  doors: everyDoor,
  show: { load: async () => (await import('./show-explained-run.ts')).showRunExplained },
  examples: [{ id: 'r-11' }],
  async run(context, { id, schedule }) {
    const run = await context.store.look(findRun, id)
    if (run !== null) return explained(context, run)
    if (schedule === undefined) throw absentRun(id)
    return pruned(context, id, await presentSchedule(context, schedule))
  },
})

async function explained(context: OperationContext, run: RunView): Promise<RunExplained> {
  const { store } = context
  const fleet = await fleetOf(context)
  const [standing, views, queue, schedule] = await Promise.all([
    runSituationOf(context, run, fleet),
    store.look(listAttempts, run.id),
    store.look(findQueue, run.queue),
    run.scheduleId === null ? null : store.look(findSchedule, run.scheduleId),
  ])
  const policy = queue?.policy ?? null
  const attempts = explainAttempts({ run, attempts: views, policy, fleet })
  const retries = retriesHeld(run.options, run.scheduleId === null ? 'run' : 'schedule', policy)
  const lateness = latenessOf(run, attempts, fleet.now)
  const around = await scheduleAround(context, run.occurrenceAt, schedule, fleet)
  return {
    run: run.id,
    at: fleet.now,
    status: run.status,
    ...standing,
    queue: run.queue,
    schedule: around,
    planned: await plannedOf(context, run, schedule),
    timeline: timelineOf({
      run,
      attempts,
      lateness,
      fleet,
      origins: context.origins,
      until: standing.waiting?.until ?? null,
    }),
    attempts,
    budget: { used: run.attempts, max: retries?.maxAttempts ?? null },
    retries,
    lateness,
    next: nextOf(run, standing, around),
    notes: [...outputNote(run, standing, attempts), ...(await partNotes(context, run)), ...notesOf(run, schedule)],
  }
}

const ledgerLookedAt = 1_000

/** The ledger row that its schedule still has of a removed run. */
async function pruned(context: OperationContext, id: string, schedule: ScheduleView): Promise<RunExplained> {
  const rows = await context.store.look(listLedger, schedule.id, { limit: ledgerLookedAt })
  const row = rows.find((one) => one.runId === id)
  if (row === undefined) throw absentRun(id, schedule.spec.name)
  const fleet = await fleetOf(context)
  const [told] = await explainLedger(context, [row])
  const around = await scheduleAround(context, row.from, schedule, fleet)
  return {
    run: id,
    at: fleet.now,
    status: null,
    code: 'pruned',
    sentence: `Retention has removed the run; the ledger of ${schedule.spec.name} says: ${told?.why}.`,
    unblock: [],
    waiting: null,
    queue: schedule.spec.queue ?? 'default',
    schedule: around,
    planned: await plannedByLedger(context, schedule, row),
    timeline: ledgerEvents(row),
    attempts: [],
    budget: null,
    retries: null,
    lateness: null,
    next: afterIts(around),
    notes: ['Its attempts, payload, result and output were removed with it.', runReasons.pruned.says],
  }
}

function ledgerEvents({ decision, from, recordedAt, endedAt, outcome }: LedgerView): TimelineEvent[] {
  const events: TimelineEvent[] = [
    ...(decision === null
      ? []
      : [{ at: decision.at, what: 'decided' as const, detail: `by version ${decision.version}` }]),
    { at: from, what: 'nominal', detail: '' },
    { at: recordedAt, what: 'fired', detail: '' },
    ...(endedAt === null ? [] : [{ at: endedAt, what: 'ended' as const, detail: outcome }]),
  ]
  return events.sort((a, b) => a.at - b.at)
}

const rowsAround = 100

/** What the schedule of a run did after it, and does next. */
async function scheduleAround(
  context: OperationContext,
  occurrenceAt: number | null,
  schedule: ScheduleView | null,
  { now }: Fleet,
): Promise<ScheduleOfRun | null> {
  if (schedule === null) return null
  const rows = occurrenceAt === null ? [] : await context.store.look(listLedger, schedule.id, { limit: rowsAround })
  // If the page does not reach back to this occurrence, it does not contain the row after it
  // either.
  const isReached = rows.some(({ from }) => from <= (occurrenceAt ?? 0))
  const later = isReached ? rows.filter(({ from }) => from > (occurrenceAt ?? 0)) : []
  const [after] = await explainLedger(context, later.slice(-1))
  const [next] = problemOf(schedule) === null ? await readUpcoming(context.store, { now, schedule, count: 1 }) : []
  const { name, timing } = schedule.spec
  const zone = timing.cron === undefined ? null : timing.zone
  return { id: schedule.id, name, zone, after: after ?? null, next: next ?? null }
}

function nextOf(
  run: RunView,
  { code, waiting, unblock }: RunSituation,
  around: ScheduleOfRun | null,
): RunExplained['next'] {
  if (isEnded(run.status)) return afterIts(around)
  switch (code) {
    case 'in-line':
      return {
        what: `Attempt ${run.fence + 1} starts ${waiting?.beforeIsAtLeast === true ? 'when its turn comes' : 'as soon as a worker leases it'}.`,
        at: null,
      }
    case 'backoff':
    case 'not-before':
      return { what: `Attempt ${run.fence + 1} may start.`, at: waiting?.until ?? null }
    case 'leased':
      return { what: `Attempt ${run.fence} ends; until then its worker renews the lease.`, at: waiting?.until ?? null }
    default:
      return { what: unblock[0]?.what ?? runReasons[code].unblocks, at: unblock[0]?.at ?? null }
  }
}

function afterIts(around: ScheduleOfRun | null): RunExplained['next'] {
  if (around === null) return { what: 'Nothing: it has ended.', at: null }
  if (around.next === null) return { what: 'It has ended, and its schedule has no next occurrence.', at: null }
  return { what: 'It has ended; its schedule runs next.', at: around.next.dueAt }
}

/** For codes that do not already point to the output: the output of a failed attempt may say why. */
function outputNote({ id }: RunView, { unblock }: RunSituation, attempts: readonly ExplainedAttempt[]): string[] {
  const { command } = whatItWrote(id)
  if (unblock.some((way) => way.command === command) || !attempts.some(({ isCounted }) => isCounted)) return []
  return [`Read the output of its attempts: ${command}`]
}

async function partNotes(context: OperationContext, run: RunView): Promise<readonly string[]> {
  return (await Promise.all((context.runNotes ?? []).map((explains) => explains(context, run)))).flat()
}

/** Facts that are not kept any more. */
function notesOf({ scheduleId }: RunView, schedule: ScheduleView | null): string[] {
  if (scheduleId !== null && schedule === null) return [`Its schedule ${scheduleId} was removed by retention.`]
  return schedule?.deletedAt == null ? [] : ['Its schedule was deleted.']
}

function absentRun(id: string, schedule?: string): BelfryError {
  const where =
    schedule === undefined ? '' : `, and the newest ${ledgerLookedAt} ends of ${quoted(schedule)} do not name it`
  return new BelfryError('not-found', `There is no run ${quoted(id)}${where}.`, {
    hint:
      schedule === undefined
        ? 'It never existed here, or retention removed it. Give its schedule too, whose ledger may name the run, or see the history of the schedule.'
        : 'The run was not an occurrence of that schedule, or its ledger row was removed too.',
    details: { id, ...(schedule !== undefined && { schedule }) },
  })
}
