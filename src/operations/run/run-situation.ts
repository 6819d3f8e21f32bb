import { z } from 'zod'
import { heldUntil } from '../../core/hold.ts'
import { type PlannedRun, workOf } from '../../core/queue/plan-leases.ts'
import { isEnded } from '../../core/run/run-state.ts'
import { leasesOfWorkers } from '../../store/reads/find-leases.ts'
import { findRun } from '../../store/reads/find-run.ts'
import { findSchedule } from '../../store/reads/find-schedule.ts'
import { listRuns } from '../../store/reads/list-runs.ts'
import type { RunView, ScheduleView } from '../../store/views.ts'
import { deathOf, type Fleet, takers, takersAmong, takersOf, workerName } from '../explain/fleet.ts'
import type { OperationContext } from '../operation-context.ts'
import { type RunCode, runReasons } from '../reasons/run-reasons.ts'
import { type AnswerOf, count, flag, instantOutput, text } from '../schema/output-schema.ts'
import { type PlaceInLine, placeInLineOf, rateOpensAt } from './place-in-line.ts'
import type { RunExplained } from './run-explained.ts'

const holder = z
  .strictObject({
    run: text('The id of the run.'),
    worker: text('The worker that executes it.').nullable(),
    isDead: flag('Whether that worker died, so that the run must be reclaimed.'),
    since: instantOutput('When it was leased.').nullable(),
    leaseExpiresAt: instantOutput('When its lease expires, unless it is renewed.').nullable(),
  })
  .describe('A run that blocks another.')

export const waiting = z
  .strictObject({
    until: instantOutput(
      'When time alone ends the wait, where that is known; under a rate limit, at the earliest.',
    ).nullable(),
    before: count('How many runs are before it in line.'),
    beforeIsAtLeast: flag('Whether there may be more than were read.'),
    holders: z.array(holder).describe('The runs that block it; a few when there are many.'),
    holdersCount: count('How many runs block it.'),
    takers,
  })
  .describe('What a run that has not ended waits for.')
export type Waiting = AnswerOf<typeof waiting>

/** The state of a run, its cause, and what would unblock it. */
export type RunSituation = Pick<RunExplained, 'code' | 'sentence' | 'unblock' | 'waiting'>

/** The facts that the sentences about a run use. */
export interface Facts {
  readonly run: RunView
  readonly place: PlaceInLine
  readonly fleet: Fleet
  readonly schedule: ScheduleView | null
  readonly waiting: Waiting
  readonly reasons: OperationContext['holdReasons']
}

const holdersShownMax = 5

/** The state of a run, by the plan that leasing would follow now. */
export async function runSituationOf(context: OperationContext, run: RunView, fleet: Fleet): Promise<RunSituation> {
  const place = await placeInLineOf(context.store, run, fleet)
  const code = await codeOf(context, run, place, fleet)
  const schedule = run.scheduleId === null ? null : await context.store.look(findSchedule, run.scheduleId)
  const holders = await holdersOf(context, run, code, place)
  const waiting: Waiting = {
    until: untilOf(code, run, place, schedule),
    before: place.before.length,
    beforeIsAtLeast: place.isBeforeAtLeast,
    holders: await shown(context, holders.slice(0, holdersShownMax), fleet),
    holdersCount: holders.length,
    takers: takersOf(run, fleet),
  }
  const facts: Facts = { run, place, fleet, schedule, waiting, reasons: context.holdReasons }
  const reason = runReasons[code]
  return {
    code,
    sentence: reason.sentence?.(facts) ?? reason.says,
    unblock: reason.ways?.(facts) ?? [],
    waiting: isEnded(run.status) ? null : waiting,
  }
}

async function codeOf(context: OperationContext, run: RunView, place: PlaceInLine, fleet: Fleet): Promise<RunCode> {
  const { reason, queue } = place
  if (run.end !== null) return run.end.status
  if (run.status === 'ready' && queue?.policy === null) return 'policy-unreadable'
  if (deathOf(run.lease?.workerId, fleet) !== null) return 'holder-dead'
  if (reason !== null) return reason
  return (await areBusy(context, run.queue, place.own, fleet)) ? 'workers-busy' : 'in-line'
}

const leasesLookedAt = 10_000

/** Whether no worker that could execute the run has a free slot. A worker without a slot limit always has one. */
async function areBusy({ store }: OperationContext, queue: string, own: PlannedRun, { live }: Fleet): Promise<boolean> {
  const able = takersAmong(own.target, queue, live)
  if (able.length === 0 || able.some(({ slots }) => slots === null)) return false
  const ids = able.map(({ id }) => id)
  const held = await store.look(leasesOfWorkers, ids, leasesLookedAt)
  const taken = (id: string) => held.filter(({ workerId }) => workerId === id).length
  return able.every(({ id, slots }) => taken(id) >= (slots ?? Number.POSITIVE_INFINITY))
}

function untilOf(code: RunCode, run: RunView, place: PlaceInLine, schedule: ScheduleView | null): number | null {
  switch (code) {
    case 'backoff':
      return place.own.nextEligibleAt ?? null
    case 'not-before':
      return place.own.notBefore ?? null
    case 'held':
      return schedule?.disabled === null ? (schedule.paused?.until ?? null) : null
    case 'held-by':
      return heldUntil(place.window.holds, workOf(place.own, run.queue), place.window.now)
    case 'rate-limit':
      return rateOpensAt(place)
    case 'leased':
      return run.lease?.expiresAt ?? null
    default:
      return null
  }
}

/** The runs that block it, those at work first. */
async function holdersOf(
  context: OperationContext,
  run: RunView,
  code: RunCode,
  place: PlaceInLine,
): Promise<string[]> {
  const { window, own, before } = place
  const atWork = window.runs.filter(({ status }) => status === 'leased')
  const idsOf = (runs: readonly PlannedRun[]) => runs.map(({ id }) => id)
  switch (code) {
    case 'concurrency-ceiling':
      return idsOf(atWork)
    case 'key-ceiling': {
      const isOfKey = ({ concurrencyKey }: PlannedRun) => concurrencyKey === own.concurrencyKey
      return idsOf([...atWork.filter(isOfKey), ...before.filter(isOfKey)])
    }
    case 'overlap':
    case 'blocked-by-cancel':
      return blockersOf(context, run)
    default:
      return []
  }
}

/** The runs of its schedule that it may not overlap. */
async function blockersOf({ store }: OperationContext, { id, scheduleId, waitsFor }: RunView): Promise<string[]> {
  const named = waitsFor === null ? null : await store.look(findRun, waitsFor)
  if (named !== null && !isEnded(named.status) && named.status !== 'parked') return [named.id]
  if (scheduleId === null) return []
  const { runs } = await store.look(listRuns, { schedule: scheduleId, status: 'leased', limit: holdersShownMax })
  return runs.map((other) => other.id).filter((other) => other !== id)
}

async function shown({ store }: OperationContext, ids: readonly string[], fleet: Fleet): Promise<Waiting['holders']> {
  const runs = await Promise.all(ids.map((id) => store.look(findRun, id)))
  return runs.flatMap((run) => {
    if (run === null) return []
    const { id, lease } = run
    const [workerId, since, leaseExpiresAt] = [
      lease?.workerId ?? null,
      lease?.leasedAt ?? null,
      lease?.expiresAt ?? null,
    ]
    const isDead = deathOf(workerId, fleet) !== null
    return [{ run: id, worker: workerName(workerId, fleet), isDead, since, leaseExpiresAt }]
  })
}
