import { defaultQueue } from '../core/queue/policy.ts'
import { requestAtClose } from './calendars/release-at-close.ts'
import { moveHold } from './calendars/write-closings.ts'
import { deleteHold, endHold } from './holds/lift-hold.ts'
import { insertHold } from './holds/put-hold.ts'
import { wakeStopped } from './holds/stopped-schedules.ts'
import { deleteEnded, keepBefore } from './holds/turn-holds.ts'
import { takeBack } from './leases/reclaim.ts'
import { requestCancelsOn, requestReleasesOn } from './leases/stop-leased.ts'
import type { NewsKind } from './news.ts'
import type { Enqueued, NewRun } from './port.ts'
import { updateQueue } from './queues/set-queue.ts'
import { requestCancel } from './runs/cancel-run.ts'
import { requestCancels } from './runs/cancel-runs.ts'
import { enqueuePlainly } from './runs/enqueue-plain.ts'
import { startDeferred } from './runs/free-deferred.ts'
import { insertReady, insertWaiting } from './runs/ready-aside.ts'
import { saveSooner } from './schedules/schedule-row.ts'
import type { Request, Row, Statement, Step } from './statement.ts'

/** The changes of a step that a sleeping worker may not know of. */
export type News = Set<NewsKind>

/**
 * The statements after which something may start sooner than sleepers expect. Each such change (a run comes into line, gets an
 * instant, loses its lease, is held or gets a cancel request) has one statement, whichever verb uses it, so no verb has to
 * announce the change and none can forget to. `wrote`: only the returned rows say whether it wrote anything.
 */
const tells = new Map<Statement, { readonly what: NewsKind | readonly NewsKind[]; readonly wrote?: true }>([
  [insertReady, { what: 'work' }],
  [enqueuePlainly, { what: 'work', wrote: true }],
  [insertWaiting, { what: 'work' }],
  [startDeferred, { what: 'work', wrote: true }],
  [takeBack, { what: 'work', wrote: true }],
  [updateQueue, { what: 'work' }],
  [saveSooner, { what: 'schedules' }],
  // The end of a hold releases runs and may let schedules fire; sleeping workers do not know the instants of a new
  // hold yet.
  [insertHold, { what: ['work', 'schedules'] }],
  [endHold, { what: ['work', 'schedules'] }],
  [deleteHold, { what: ['work', 'schedules'] }],
  [deleteEnded, { what: ['work', 'schedules'] }],
  [keepBefore, { what: ['work', 'schedules'] }],
  [moveHold, { what: ['work', 'schedules'] }],
  [wakeStopped, { what: 'schedules', wrote: true }],
  [requestCancel, { what: 'cancels', wrote: true }],
  [requestCancels, { what: 'cancels', wrote: true }],
  [requestCancelsOn, { what: 'cancels', wrote: true }],
  [requestReleasesOn, { what: 'cancels', wrote: true }],
  [requestAtClose, { what: 'cancels', wrote: true }],
])

/** Runs the step and records which changes must wake workers. */
export function* noting<Result>(step: Step<Result>, news: News): Step<Result> {
  let turn = step.next()
  while (!turn.done) {
    const rows: Row[] = yield turn.value
    note(turn.value, rows, news)
    turn = step.next(rows)
  }
  return turn.value
}

function note(answered: Request, rows: readonly Row[], news: News): void {
  const request = answered.kind === 'rows' ? answered.of : answered
  if (!('statement' in request)) return
  const told = tells.get(request.statement)
  if (told === undefined || (told.wrote === true && rows.length === 0)) return
  for (const what of [told.what].flat()) news.add(what)
}

/** Runs the step in a caller's own transaction: other processes are woken when the caller commits. */
export function* wakingOthers<Result>(step: Step<Result>): Step<Result> {
  const news: News = new Set()
  const result = yield* noting(step, news)
  if (news.size > 0) yield { kind: 'wake-others' }
  return result
}

export function queuesOf(runs: readonly NewRun[], answers: readonly Enqueued[]): string[] {
  const taken = runs.filter((_, index) => answers[index]?.created === true)
  return [...new Set(taken.map(({ queue = defaultQueue }) => queue))]
}
