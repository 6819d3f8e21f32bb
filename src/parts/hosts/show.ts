import { plainText, shortText } from '../../operations/schedule/plain-text.ts'
import { type Column, indented, type Sheet } from '../../operations/show.ts'
import { targetInWords } from '../../operations/target/target-in-words.ts'
import type { Draining } from './drain-queue.ts'
import type { LeaseEnded } from './end-lease.ts'
import type { HandedOut } from './hand-out.ts'
import type { Leasing } from './lease-runs.ts'
import type { LeasedRun } from './lease-schema.ts'
import type { Plan } from './plan-runs.ts'
import type { Renewed } from './renew-leases.ts'
import type { ManyReset } from './reset-runs.ts'

const textWidth = 60

const goingColumns: readonly Column<Plan['leases'][number]>[] = [
  ['WOULD START', 'runId', 'name'],
  ['PRIORITY', 'priority', 'count'],
  ['ATTEMPTS', 'attempts', 'count'],
  ['MADE', 'enqueuedAt', 'relative'],
]

export function showPlan(plan: Plan, { paint, relative, table }: Sheet): string {
  const { queue, exists, inFlight, maxConcurrent, available, leases, skippedByReason, reclaimable } = plan
  const { skipped, wakeAt, isWhole } = plan
  const head = `${paint.bold(plainText(queue))}  ${inFlight} of ${maxConcurrent} at work, ${available} free`
  const tried = skipped.filter(({ attempts }) => attempts > 0).map(({ runId, attempts }) => `${runId} ${attempts}`)
  const holds = [...new Set(skipped.flatMap(({ hold }) => hold ?? []))]
  const counts = skippedByReason.map(({ reason, count }) => `${count} ${reason}`).join(', ')
  const lines = [
    ...(exists ? [] : ['The queue does not exist yet: the first run or policy that names it creates it.']),
    leases.length === 0 ? 'No run can be leased now.' : table(goingColumns, leases),
    ...(counts === '' ? [] : [`would not start: ${counts}${isWhole ? '' : ' (of those that were read)'}`]),
    ...(holds.length === 0 ? [] : [`held by: ${firstOf(holds)}`]),
    ...(tried.length === 0 ? [] : [`attempts used: ${firstOf(tried)}`]),
    ...(reclaimable.length === 0 ? [] : [paint.yellow(`expired, to be reclaimed: ${namesOf(reclaimable)}`)]),
    ...(wakeAt === null ? [] : [`this may change ${relative(wakeAt)}`]),
  ]
  return [head, ...lines.map((line) => indented(line))].join('\n')
}

const namesMax = 10

function firstOf(texts: readonly string[]): string {
  const more = texts.length - namesMax
  return texts.slice(0, namesMax).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function namesOf(runs: readonly { readonly runId: string }[]): string {
  return firstOf(runs.map(({ runId }) => runId))
}

const workColumns: readonly Column<LeasedRun>[] = [
  ['DOES', ({ target }, { kinds }) => shortText(targetInWords(target, kinds), textWidth)],
  ['PAYLOAD', ({ payload }) => (payload === undefined ? null : shortText(JSON.stringify(payload), textWidth))],
]

const leaseColumns: readonly Column<Leasing['leases'][number]>[] = [
  ['LEASE', 'lease', 'name'],
  ['EXPIRES', 'expiresAt', 'relative'],
  ...workColumns,
]

export function showLeasing(answer: Leasing, sheet: Sheet): string {
  const { leases, repeated, over, queue } = answer
  const none = `no run of ${plainText(queue)} was leased`
  return [
    leases.length === 0 ? none : sheet.table(leaseColumns, leases),
    ...(repeated ? ['this request key was used before: these are its leases'] : []),
    ...(over.length === 0 ? [] : [`leased by the first request, and no longer held: ${namesOf(over)}`]),
    ...remarks(answer, sheet),
  ].join('\n')
}

const takenColumns: readonly Column<Draining['runs'][number]>[] = [['TAKEN', 'runId', 'name'], ...workColumns]

export function showDraining(answer: Draining, sheet: Sheet): string {
  const { runs, queue } = answer
  const none = `no run of ${plainText(queue)} was taken`
  return [runs.length === 0 ? none : sheet.table(takenColumns, runs), ...remarks(answer, sheet)].join('\n')
}

const stops: Readonly<Record<NonNullable<HandedOut['stopped']>, string>> = {
  'held-by': 'the queue is held',
  'policy-unreadable': 'its policy cannot be read: set it again',
  'no-queue': 'the queue does not exist yet: the first run or policy that names it creates it',
}

function remarks({ stopped, hold, full, reclaimed, setAside, more }: HandedOut, { paint }: Sheet): string[] {
  return [
    ...(stopped === null ? [] : [paint.yellow(`${stops[stopped]}${hold === null ? '' : ` by ${hold}`}`)]),
    ...(full ? [paint.yellow('the queue is at its ceiling: no run is leased until one of its runs ends')] : []),
    ...(reclaimed.length === 0 ? [] : [`reclaimed first, because their leases had expired: ${namesOf(reclaimed)}`]),
    ...(setAside.length === 0 ? [] : [`removed from the line, not leased: ${namesOf(setAside)}`]),
    ...(more ? ['there may be more: repeat the command'] : []),
  ]
}

export function showRenewed(renewed: Renewed, { paint, relative }: Sheet): string {
  const { expiresAt } = renewed
  const until = expiresAt === null ? '' : `; it expires ${relative(expiresAt)}`
  const asked = askedFor(renewed)
  const stop = asked === null ? '' : paint.yellow(`\n${asked}: stop the work, and release the run`)
  return `renewed${until}${stop}`
}

function askedFor({ cancelRequestedAt, releaseRequestedAt }: Renewed): string | null {
  if (cancelRequestedAt !== null) return 'cancellation requested'
  return releaseRequestedAt === null ? null : 'release requested'
}

export const renewedColumns: readonly Column<Renewed>[] = [
  ['LEASE', 'lease', 'name'],
  ['STANDS', ({ renewed }, { paint }) => (renewed ? paint.green('renewed') : paint.red('over'))],
  ['EXPIRES', 'expiresAt', 'relative'],
  ['', (renewed) => askedFor(renewed) ?? plainText(renewed.problem ?? '')],
]

export function showLeaseEnded({ runId, status, reason, nextEligibleAt }: LeaseEnded, sheet: Sheet): string {
  const again = nextEligibleAt === null ? '' : `, next attempt ${sheet.relative(nextEligibleAt)}`
  const why = status === 'completed' ? '' : ` (${plainText(reason)})`
  return `${sheet.paint.bold(runId)} is ${sheet.status(status)}${why}${again}`
}

const reclaimedColumns: readonly Column<HandedOut['reclaimed'][number]>[] = [
  ['RUN', 'runId', 'name'],
  ['ATTEMPT', 'fence', 'count'],
  ['STANDS', 'status', 'status'],
  ['WHY', 'reason', 'text'],
]

export function showReclaimed({ reclaimed, more }: Pick<HandedOut, 'reclaimed' | 'more'>, { table }: Sheet): string {
  if (reclaimed.length === 0) return 'No lease has expired.'
  return [table(reclaimedColumns, reclaimed), ...(more ? ['there may be more: repeat the command'] : [])].join('\n')
}

export function showManyReset({ reset, left, more }: ManyReset): string {
  const lines = [
    reset.length === 0
      ? 'none was reset'
      : `reset ${reset.length}: ${reset.slice(0, namesMax).join(', ')}${reset.length > namesMax ? ' …' : ''}`,
    ...left.map(({ id, why }) => `not reset ${id}: ${why}`),
    ...(more ? ['there may be more: repeat the command'] : []),
  ]
  return lines.join('\n')
}
