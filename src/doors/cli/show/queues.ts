import { formatDuration } from '../../../core/duration.ts'
import type { Policy } from '../../../core/policy.ts'
import type { QueueWritten } from '../../../operations/queue/queue.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import type { Worker } from '../../../operations/worker.ts'
import { columns, indented } from '../columns.ts'
import { commandFor, type Paint, type Sheet } from '../sheet.ts'
import { howLong, relative, when } from '../when.ts'
import { facts } from './facts.ts'
import { notifyRows } from './notices.ts'

type Queue = QueueWritten['queue']

export function showQueues(queues: readonly Queue[], sheet: Sheet): string {
  const rows = queues.map((queue) => [
    sheet.paint.bold(plainText(queue.name)),
    `${queue.inFlight} of ${queue.policy?.maxConcurrent ?? '?'}`,
    standing(queue, sheet),
  ])
  return columns(['NAME', 'AT WORK', 'STANDS'], rows)
}

function standing({ paused, policy, createdAt }: Queue, { paint, now }: Sheet): string {
  if (createdAt === null) return paint.dim('does not exist yet; the first work creates it with these defaults')
  if (policy === null) return paint.red('its policy cannot be read: nothing goes')
  if (paused === null) return paint.green('open')
  return paint.yellow(`paused ${relative(paused.at, now)}: ${plainText(paused.reason)}`)
}

export function showQueue(queue: Queue, sheet: Sheet): string {
  const { name, policy, policyVersion, inFlight } = queue
  const head = `${sheet.paint.bold(plainText(name))}  ${standing(queue, sheet)}`
  const rows = policy === null ? [] : policyRows(policy)
  const told = notifyRows(queue.notify ?? {})
  const known = facts(
    [['at work', String(inFlight)], ...rows, ...told, ['version', String(policyVersion)]],
    sheet.paint,
  )
  return [head, indented(known)].join('\n')
}

function policyRows(policy: Policy): [string, string | null][] {
  const { rateLimit, retention } = policy
  const kept = [
    `completed ${formatDuration(retention.completedMs)}`,
    `failed ${formatDuration(retention.failedMs)}`,
    `history ${formatDuration(retention.ledgerMs)}`,
    `at most ${retention.endedRunsMax} ended runs`,
    ...(retention.parkedMs === undefined ? [] : [`parked ${formatDuration(retention.parkedMs)}`]),
  ]
  return [
    ['max-concurrent', String(policy.maxConcurrent)],
    ['max-concurrent-per-key', policy.maxConcurrentPerKey === undefined ? null : String(policy.maxConcurrentPerKey)],
    ['max-attempts', String(policy.maxAttempts)],
    [
      'backoff',
      `${formatDuration(policy.backoffBaseMs)} × ${policy.backoffFactor}^(n−1), at most ${formatDuration(policy.backoffCapMs)}`,
    ],
    ['backoff-spread', policy.backoffSpread === undefined ? null : String(policy.backoffSpread)],
    [
      'rate-limit',
      rateLimit === undefined ? null : `${rateLimit.startsMax} starts in ${formatDuration(rateLimit.perMs)}`,
    ],
    ['on-exhausted', policy.onExhausted ?? null],
    ['lease-ttl', `${formatDuration(policy.leaseTtlMs)} for outside hosts`],
    ['kept', kept.join(', ')],
  ]
}

const written = {
  created: { done: 'created', rehearsed: 'would create' },
  updated: { done: 'updated', rehearsed: 'would update' },
  unchanged: { done: 'nothing changed of', rehearsed: 'nothing would change of' },
} as const

export function showQueueWritten(
  { answer, queue }: QueueWritten,
  sheet: Sheet,
  { isRehearsal }: { isRehearsal: boolean },
): string {
  const word = written[answer][isRehearsal ? 'rehearsed' : 'done']
  const end = isRehearsal ? ' (a rehearsal: nothing was written)' : ''
  return `${word} queue ${showQueue(queue, sheet).replace('\n', () => `${end}\n`)}`
}

export function showQueueDeleted(
  { name }: { readonly name: string },
  _: Sheet,
  { isRehearsal }: { isRehearsal: boolean },
): string {
  const end = ' (a rehearsal: nothing was written)'
  return isRehearsal ? `would delete queue ${plainText(name)}${end}` : `deleted queue ${plainText(name)}`
}

export function showWorkers(workers: readonly Worker[], sheet: Sheet): string {
  const { now, zone, paint } = sheet
  if (workers.length === 0) return `No worker has run here yet. Start one: ${commandFor(sheet, 'up')}`
  const rows = workers.map((worker) => {
    const { id, name, host, can, slots, startedAt } = worker
    return [
      paint.bold(id),
      plainText(name),
      plainText(host),
      lifeOf(worker, now, paint),
      when(startedAt, { now, zone }),
      slots === null ? 'as queues allow' : String(slots),
      [...can.kinds, ...(can.handlers ?? []).map((handler) => `handler ${handler}`)].map(plainText).join(', '),
    ]
  })
  const table = columns(['ID', 'NAME', 'HOST', 'STANDS', 'STARTED', 'SLOTS', 'CAN'], rows)
  const lost = workers.filter(({ isDead }) => isDead).map(lostOf)
  return [table, ...lost].join('\n')
}

/** What became of the runs of a worker that died. */
function lostOf({ id, lost, unreclaimed }: Worker): string {
  const held = unreclaimed === 1 ? '1 run, until a worker takes it' : `${unreclaimed} runs, until a worker takes them`
  const still = unreclaimed === 0 ? '' : ` It still holds ${held} back.`
  if (lost === null) return unreclaimed === 0 ? `${id} had no run when it died.` : `${id} died.${still}`
  const shown = lost.runs.map((run) => `${run.id} as ${run.status} (${run.reason})`).join(', ')
  const some = lost.count > lost.runs.length ? `, the last ${lost.runs.length} of them` : ''
  return `${id}: ${lost.count} ${lost.count === 1 ? 'run was' : 'runs were'} taken back${some}: ${shown}.${still}`
}

function lifeOf({ isLive, isDead, beatAt, stoppedAt }: Worker, now: number, paint: Paint): string {
  if (isLive) return paint.green('alive')
  if (isDead) return paint.red(`dead, last heard of ${relative(beatAt, now)}`)
  if (stoppedAt !== null) return paint.dim(`stopped ${relative(stoppedAt, now)}`)
  return paint.red(`not heard of for ${howLong(Math.max(0, now - beatAt))}`)
}
