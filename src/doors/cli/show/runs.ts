import type { z } from 'zod'
import { formatDuration } from '../../../core/duration.ts'
import type { EnqueuedRun } from '../../../operations/run/enqueue.ts'
import { noticeInWords } from '../../../operations/run/notice-words.ts'
import type { attemptSaid, outputSaid } from '../../../operations/run/output.ts'
import type { Run, RunLine, RunList } from '../../../operations/run/view.ts'
import { waitsInWords } from '../../../operations/schedule/in-words.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import { columns, indented } from '../columns.ts'
import { commandFor, type Sheet } from '../sheet.ts'
import { howLong, relative, when } from '../when.ts'
import { facts } from './facts.ts'
import { colourOf } from './schedules.ts'

const targetWidth = 50
const textWidth = 500

export function showRuns({ runs, next }: RunList, sheet: Sheet): string {
  if (runs.length === 0) return next === null ? 'No runs.' : 'None among those looked at.'
  const { paint, now } = sheet
  const rows = runs.map((run) => [
    paint.bold(run.id),
    colourOf(run.status, paint)(run.status),
    plainText(run.schedule ?? run.source),
    run.queue === 'default' ? '' : plainText(run.queue),
    relative(run.enqueuedAt, now),
    remarkOn(run, sheet),
    shortText(targetInWords(run.target), targetWidth),
  ])
  return columns(['ID', 'STATUS', 'FROM', 'QUEUE', 'MADE', '', 'DOES'], rows)
}

function remarkOn({ status, waiting, parked, end, lease, attempts }: RunLine, { now }: Sheet): string {
  if (parked !== null) return shortText(parked.reason, targetWidth)
  if (end !== null) return end.status === 'completed' ? '' : shortText(end.reason ?? '', targetWidth)
  if (lease !== null) return `for ${howLong(Math.max(0, now - lease.leasedAt))}`
  if (waiting !== undefined) return waitText(waiting, now)
  return attempts > 0 ? `${attempts} attempts used` : status === 'held' ? 'its schedule is paused' : ''
}

function waitText(waiting: NonNullable<RunLine['waiting']>, now: number): string {
  if (waiting.for === 'key') return 'waits for its key'
  if (waiting.for === 'overlap') return 'waits for the run before it'
  return waiting.until === undefined ? 'waits' : relative(waiting.until, now)
}

export function showRun(run: Run, sheet: Sheet): string {
  const { paint, now, zone } = sheet
  const reader = { now, zone }
  const { lease, parked, end, waiting } = run
  const plannedFor = run.occurrenceAt ?? (run.source === 'backfill' ? run.dueAt : null)
  const rows: [string, string | null][] = [
    ['of', run.schedule === null ? null : `schedule ${plainText(run.schedule)}`],
    ['source', run.source],
    ['tells of', run.source === 'notice' ? noticeInWords(run.payload) : null],
    ['queue', plainText(run.queue)],
    ['planned for', plannedFor === null ? null : when(plannedFor, reader)],
    ['made', when(run.enqueuedAt, reader)],
    [
      'waits',
      waiting === undefined
        ? null
        : `${waitText(waiting, now)}${waiting.reason === null ? '' : `: ${plainText(waiting.reason)}`}`,
    ],
    ['leased', lease === null ? null : `by ${lease.workerId} ${when(lease.leasedAt, reader)}`],
    ['cancel', lease?.cancelRequestedAt == null ? null : `asked for ${when(lease.cancelRequestedAt, reader)}`],
    ['parked', parked === null ? null : `${when(parked.at, reader)}: ${plainText(parked.reason)}`],
    [
      'ended',
      end === null ? null : `${when(end.at, reader)}${end.reason === null ? '' : `: ${plainText(end.reason)}`}`,
    ],
    [
      'attempts',
      `${run.fence}, of which ${run.attempts} used the budget${run.maxAttempts === undefined ? '' : ` of ${run.maxAttempts}`}`,
    ],
    ['backoff', run.backoff === undefined ? null : waitsInWords(run.backoff)],
    ['timeout', run.timeoutMs === undefined ? null : formatDuration(run.timeoutMs)],
    ['key', run.concurrencyKey === null ? null : plainText(run.concurrencyKey)],
    ['idempotency key', run.idempotencyKey === null ? null : plainText(run.idempotencyKey)],
    ['retry of', run.retryOf],
    ['payload', run.payload === undefined ? null : shortText(JSON.stringify(run.payload), textWidth)],
    [
      'result',
      run.result === null
        ? null
        : `${shortText(JSON.stringify(run.result.value), textWidth)}${run.result.truncated ? ' (cut)' : ''}`,
    ],
  ]
  const head = `${paint.bold(run.id)}  ${colourOf(run.status, paint)(run.status)}  ${targetInWords(run.target)}`
  const [why, output] = [commandFor(sheet, 'explain', 'run', run.id), commandFor(sheet, 'run', 'output', run.id)]
  const more = paint.dim(`why: ${why}    output: ${output}`)
  const shown = run.output === undefined ? [] : ['', showOutput(run.output) || 'Nothing was put out.']
  return [head, indented(facts(rows, paint)), indented(more), ...shown].join('\n')
}

export function showAttempts(attempts: readonly z.output<typeof attemptSaid>[], { now, zone, paint }: Sheet): string {
  if (attempts.length === 0) return 'No attempt has ended yet.'
  const rows = attempts.map(({ fence, workerId, startedAt, endedAt, outcome, reason }) => [
    String(fence),
    startedAt === null ? '' : when(startedAt, { now, zone }),
    startedAt === null ? '' : howLong(Math.max(0, endedAt - startedAt)),
    workerId ?? '',
    colourOf(outcome === 'success' ? 'completed' : outcome, paint)(outcome),
    reason === null ? '' : shortText(reason, textWidth),
  ])
  return columns(['ATTEMPT', 'STARTED', 'TOOK', 'WORKER', 'OUTCOME', 'WHY'], rows)
}

/** As it was put out, and nothing else: it may be piped somewhere. */
export function showOutput(output: z.output<typeof outputSaid> | null): string {
  return output?.text ?? ''
}

export function showEnqueued(answer: EnqueuedRun, sheet: Sheet, { isRehearsal }: { isRehearsal: boolean }): string {
  const { created, id } = answer
  if (isRehearsal)
    return created ? 'would enqueue it (a rehearsal: nothing was written)' : `would find ${id}, which was there before`
  if (!created) {
    const why =
      answer.because === 'dedupe-key' ? 'a live run has its dedupe key' : 'the same work came with its idempotency key'
    return `found ${id}: ${why}`
  }
  const { queueCreated } = answer
  const note =
    queueCreated === undefined
      ? ''
      : `\n  queue ${plainText(queueCreated.name)} is new: ${queueCreated.maxConcurrent} at a time`
  return `enqueued ${id}${note}\n  follow it: ${commandFor(sheet, 'run', 'output', '-f', id)}`
}

const cancelled: Readonly<Record<string, string>> = {
  cancelled: 'cancelled',
  'cancel-requested': 'asked its worker to end it',
  'already-requested': 'its worker was asked to end it before',
  'already-ended': 'it had ended before: nothing was changed',
}

export function showCancelled({ answer }: { readonly answer: string }): string {
  return cancelled[answer] ?? answer
}

interface Retried {
  readonly answer: 'created' | 'reset'
  readonly id: string
  readonly alreadyDone?: 'completed' | 'late-cancel' | undefined
}

export function showRetried({ answer, id, alreadyDone }: Retried, sheet: Sheet): string {
  if (answer === 'reset') return `reset ${id}: it goes on`
  const made = `made ${id}, a new run of the same work`
  if (alreadyDone === undefined) return made
  const when = alreadyDone === 'late-cancel' ? 'completed after its cancel was requested' : 'completed'
  const undo = commandFor(sheet, 'run', 'cancel', id)
  return `${made}\n  this work is not repeatable and was already done: the run before it ${when}\n  do not repeat it: ${undo}`
}

export function showReprioritised(answer: {
  readonly id: string
  readonly before: number
  readonly priority: number
}): string {
  const { id, before, priority } = answer
  return before === priority
    ? `${id} has priority ${priority} already`
    : `${id} has priority ${priority} now; it was ${before}`
}

export function showReset({ id }: { readonly id: string }): string {
  return `reset ${id}: it is ready, with its whole budget`
}
