import { BelfryError } from '../../core/error.ts'
import { formatId } from '../../core/id.ts'
import { isLive, moves, type RunStatus } from '../../core/run/run-state.ts'
import { checkChoice, checkInteger } from '../check.ts'
import { all, both, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import type { RunFilter, RunPage, RunSummary } from '../views.ts'
import { unknownQueue } from './find-queue.ts'
import { summariesOf } from './find-run.ts'
import { findScheduleRow } from './find-schedule.ts'
import {
  everyRunSource,
  heldSource,
  leasedSource,
  madeBySource,
  scheduleSource,
  waitingMark,
  waitingSource,
} from './made-sources.ts'
import { type Candidates, endedSource, lineSource, misplaced, parkedSource, type RunQuery } from './run-sources.ts'

const findQueues = both('list queues', 'select id, name from belfry.queue where ns = $1')

const limitMax = 1_000
/** How many runs are read for one page when a filter drops some. */
const looksMax = 500

/** A page of runs. Each kind of list is read from the index with its order; other filters are applied to the rows. */
export function* listRuns(context: StoreContext, filter: RunFilter): Step<RunPage> {
  const { limit, before, queue } = filter
  checkInteger(limit, 'limit', 1, limitMax)
  if (before !== undefined && typeof before !== 'string') misplaced({ before })
  if (filter.status !== undefined) checkChoice(filter.status, 'status', Object.keys(moves) as RunStatus[])
  const queueIds = yield* queuesOf(context, queue)
  const scheduleId = yield* scheduleOf(context, filter.schedule)
  const look: RunQuery = {
    ns: context.ns,
    queueIds,
    queueId: queue === undefined ? null : (queueIds[0] ?? null),
    before,
    most: scheduleId === null || filter.status === undefined ? limit : Math.max(limit, looksMax),
  }
  const { found, next } = yield* candidatesFor(filter, scheduleId, look)
  const places = new Map(found.map(({ id, place }) => [formatId('run', id), place]))
  const summaries = yield* summariesOf(
    context,
    found.map(({ id }) => id),
  )
  const matching = summaries.filter((run) => matches(run, filter, scheduleId))
  const page = matching.slice(0, limit)
  const last = page.at(-1)
  return { runs: page, next: matching.length > limit && last !== undefined ? (places.get(last.id) ?? null) : next }
}

function* candidatesFor({ status }: RunFilter, scheduleId: number | null, look: RunQuery): Step<Candidates> {
  if (status === undefined) return yield* scheduleId === null ? everyRunSource(look) : madeBySource(scheduleId, look)
  if (scheduleId !== null && isLive(status)) return yield* scheduleSource(scheduleId, look)
  switch (status) {
    case 'ready':
      return yield* readySource(look)
    case 'held':
      return yield* heldSource(look)
    case 'leased':
      return yield* leasedSource(look)
    case 'parked':
      return yield* parkedSource(look)
    default:
      return yield* endedSource(status, look)
  }
}

/** First the runs in line, in queue order, then those that wait. */
function* readySource(look: RunQuery): Step<Candidates> {
  if (look.before?.startsWith(waitingMark)) return yield* waitingSource(look)
  const line = yield* lineSource(look)
  if (line.next !== null) return line
  const waiting = yield* waitingSource({ ...look, before: undefined, most: look.most - line.found.length })
  return { found: [...line.found, ...waiting.found], next: waiting.next }
}

function matches(run: RunSummary, { status, queue }: RunFilter, scheduleId: number | null): boolean {
  return (
    (status === undefined || run.status === status) &&
    (queue === undefined || run.queue === queue) &&
    (scheduleId === null || run.scheduleId === formatId('schedule', scheduleId))
  )
}

function* queuesOf(context: StoreContext, name: string | undefined): Step<number[]> {
  const rows = yield* all<{ id: number; name: string }>(findQueues, context.ns)
  const wanted = name === undefined ? rows : rows.filter((row) => row.name === name)
  if (name !== undefined && wanted.length === 0) throw unknownQueue(name)
  return wanted.map(({ id }) => id)
}

function* scheduleOf(context: StoreContext, name: string | undefined): Step<number | null> {
  if (name === undefined) return null
  const found = yield* findScheduleRow(context, name)
  if (found === null) throw new BelfryError('not-found', `There is no schedule ${JSON.stringify(name)}.`)
  return found.id
}
