import type { Draining } from '../../../operations/queue/drain.ts'
import type { LeaseEnded } from '../../../operations/sched/end.ts'
import type { HandedOut } from '../../../operations/sched/hand-out.ts'
import type { Leasing } from '../../../operations/sched/lease.ts'
import type { LeasedRun } from '../../../operations/sched/lease-output.ts'
import type { Plan } from '../../../operations/sched/plan.ts'
import type { Renewed } from '../../../operations/sched/renew.ts'
import type { ManyReset } from '../../../operations/sched/reset.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import { columns, indented } from '../columns.ts'
import type { Sheet } from '../sheet.ts'
import { relative } from '../when.ts'
import { colourOf } from './schedules.ts'

const textWidth = 60

export function showPlan(plan: Plan, { paint, now }: Sheet): string {
  const { queue, exists, inFlight, maxConcurrent, available, leases, skippedByReason, reclaimable } = plan
  const { skipped, wakeAt, isWhole } = plan
  const head = `${paint.bold(plainText(queue))}  ${inFlight} of ${maxConcurrent} at work, room for ${available}`
  const going = leases.map(({ runId, priority, attempts, enqueuedAt }) => [
    paint.bold(runId),
    String(priority),
    String(attempts),
    relative(enqueuedAt, now),
  ])
  const tried = skipped.filter(({ attempts }) => attempts > 0)
  const counts = skippedByReason.map(({ reason, count }) => `${count} ${reason}`).join(', ')
  const lines = [
    ...(exists ? [] : ['The queue does not exist yet: the first run or setting that names it creates it.']),
    leases.length === 0 ? 'No run can be leased now.' : columns(['WOULD GO', 'PRIORITY', 'ATTEMPTS', 'MADE'], going),
    ...(counts === '' ? [] : [`would not: ${counts}${isWhole ? '' : ' (of those looked at)'}`]),
    ...(tried.length === 0 ? [] : [`attempts used: ${triedText(tried)}`]),
    ...(reclaimable.length === 0 ? [] : [paint.yellow(`expired, to be taken back: ${namesOf(reclaimable)}`)]),
    ...(wakeAt === null ? [] : [`time alone may change this ${relative(wakeAt, now)}`]),
  ]
  return [head, ...lines.map((line) => indented(line))].join('\n')
}

const namesMax = 10

function namesOf(runs: readonly { readonly runId: string }[]): string {
  const shown = runs.slice(0, namesMax).map(({ runId }) => runId)
  return shown.join(', ') + (runs.length > namesMax ? ` and ${runs.length - namesMax} more` : '')
}

function triedText(tried: Plan['skipped']): string {
  const shown = tried.slice(0, namesMax).map(({ runId, attempts }) => `${runId} ${attempts}`)
  return shown.join(', ') + (tried.length > namesMax ? ` and ${tried.length - namesMax} more` : '')
}

export function showLeasing(answer: Leasing, sheet: Sheet): string {
  const { leases, repeated, over } = answer
  const rows = leases.map((lease) => [
    sheet.paint.bold(lease.lease),
    relative(lease.expiresAt, sheet.now),
    ...whatOf(lease),
  ])
  const lines = [
    leases.length === 0
      ? `nothing was handed out of ${plainText(answer.queue)}`
      : columns(['LEASE', 'EXPIRES', 'DOES', 'PAYLOAD'], rows),
    ...(repeated ? ['the request key came before: this is what it was granted then'] : []),
    ...(over.length === 0 ? [] : [`granted then, and held no longer: ${namesOf(over)}`]),
    ...remarks(answer, sheet),
  ]
  return lines.join('\n')
}

export function showDraining(answer: Draining, sheet: Sheet): string {
  const { runs, queue } = answer
  const rows = runs.map((run) => [sheet.paint.bold(run.runId), ...whatOf(run)])
  const none = `nothing was taken of ${plainText(queue)}`
  return [runs.length === 0 ? none : columns(['TAKEN', 'DOES', 'PAYLOAD'], rows), ...remarks(answer, sheet)].join('\n')
}

function whatOf({ target, payload }: LeasedRun): [string, string] {
  return [
    shortText(targetInWords(target), textWidth),
    payload === undefined ? '' : shortText(JSON.stringify(payload), textWidth),
  ]
}

const stops: Readonly<Record<NonNullable<HandedOut['stopped']>, string>> = {
  'queue-paused': 'the queue is paused',
  paused: 'everything is stopped',
  'policy-unreadable': 'its policy cannot be read: set it anew',
  'no-queue': 'the queue does not exist yet: the first run or setting that names it creates it',
}

function remarks({ stopped, full, reclaimed, setAside, more }: HandedOut, { paint }: Sheet): string[] {
  return [
    ...(stopped === null ? [] : [paint.yellow(stops[stopped])]),
    ...(full ? [paint.yellow('the queue is at its ceiling: nothing is handed out before one of its runs ends')] : []),
    ...(reclaimed.length === 0 ? [] : [`taken back first, for their leases had expired: ${namesOf(reclaimed)}`]),
    ...(setAside.length === 0 ? [] : [`left the line instead: ${namesOf(setAside)}`]),
    ...(more ? ['there may be more: ask again'] : []),
  ]
}

export function showRenewed({ expiresAt, cancelRequestedAt }: Renewed, { now, paint }: Sheet): string {
  const until = expiresAt === null ? '' : `; it expires ${relative(expiresAt, now)}`
  const cancel =
    cancelRequestedAt === null ? '' : paint.yellow('\nits end was asked for: stop the work, and release it')
  return `renewed${until}${cancel}`
}

export function showManyRenewed(answers: readonly Renewed[], { now, paint }: Sheet): string {
  const rows = answers.map(({ lease, renewed, expiresAt, cancelRequestedAt, problem }) => [
    paint.bold(lease),
    renewed ? paint.green('renewed') : paint.red('over'),
    expiresAt === null ? '' : relative(expiresAt, now),
    cancelRequestedAt === null ? plainText(problem ?? '') : 'its end was asked for',
  ])
  return columns(['LEASE', 'STANDS', 'EXPIRES', ''], rows)
}

export function showLeaseEnded({ runId, status, reason, nextEligibleAt }: LeaseEnded, { now, paint }: Sheet): string {
  const again = nextEligibleAt === null ? '' : `, to be tried again ${relative(nextEligibleAt, now)}`
  const why = status === 'completed' ? '' : ` (${plainText(reason)})`
  return `${paint.bold(runId)} is ${colourOf(status, paint)(status)}${why}${again}`
}

export function showReclaimed({ reclaimed, more }: Pick<HandedOut, 'reclaimed' | 'more'>, { paint }: Sheet): string {
  if (reclaimed.length === 0) return 'No lease has expired.'
  const rows = reclaimed.map(({ runId, fence, status, reason }) => [
    paint.bold(runId),
    String(fence),
    colourOf(status, paint)(status),
    plainText(reason),
  ])
  return [columns(['RUN', 'ATTEMPT', 'STANDS', 'WHY'], rows), ...(more ? ['there may be more: ask again'] : [])].join(
    '\n',
  )
}

export function showManyReset({ reset, left, more }: ManyReset): string {
  const lines = [
    reset.length === 0
      ? 'none was reset'
      : `reset ${reset.length}: ${reset.slice(0, namesMax).join(', ')}${reset.length > namesMax ? ' …' : ''}`,
    ...left.map(({ id, why }) => `left ${id}: ${why}`),
    ...(more ? ['there may be more: ask again'] : []),
  ]
  return lines.join('\n')
}
