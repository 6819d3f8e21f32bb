import type { z } from 'zod'
import { standsFor } from '../../core/timing/stands-for.ts'
import { addedInList, addedInWords } from '../fields/added-fields.ts'
import { plainText, shortText } from '../schedule/plain-text.ts'
import { waitsInWords } from '../schedule/schedule-in-words.ts'
import { type Column, type Facts, indented, type Listing, type Sheet } from '../show.ts'
import { targetInWords } from '../target/target-in-words.ts'
import type { EnqueuedRun } from './enqueue-runs.ts'
import type { Run, RunLine, RunList } from './run-answer.ts'
import type { attemptSchema } from './run-schema.ts'

const reasonWidth = 60
const resultWidth = 500

const columns: readonly Column<RunLine>[] = [
  ['ID', 'id', 'name'],
  ['STATUS', 'status', 'status'],
  ['FROM', ({ schedule, source }) => plainText(schedule ?? source)],
  ['QUEUE', ({ queue }) => (queue === 'default' ? null : plainText(queue))],
  ['MADE', 'enqueuedAt', 'relative'],
  ['', remarkOn],
  ['DOES', ({ target }, { kinds }) => shortText(targetInWords(target, kinds), reasonWidth)],
]

export function runsShown({ runs, next }: RunList, sheet: Sheet): string {
  if (runs.length === 0) return next === null ? 'No runs.' : 'None among the runs that were read.'
  return sheet.table(columns, runs)
}

function remarkOn(run: RunLine, sheet: Sheet): string {
  const { status, waiting, concurrencyKey, parked, end, lease, attempts, attempt } = run
  if (parked !== null) return shortText(parked.reason, reasonWidth)
  if (end !== null) return end.status === 'completed' ? '' : shortText(end.reason ?? '', reasonWidth)
  if (lease !== null) {
    const doing = lease.state === null ? addedInList(sheet.added.attempt, attempt ?? {}) : [lease.state]
    return [`for ${sheet.howLong(Math.max(0, sheet.now - lease.leasedAt))}`, ...doing].join(', ')
  }
  if (waiting?.for === 'key') return shortText(`waits for ${concurrencyKey}`, reasonWidth)
  if (waiting !== undefined) return waitText(waiting, sheet)
  return attempts > 0
    ? `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} used`
    : status === 'held'
      ? 'its schedule is paused or held'
      : ''
}

function waitText(waiting: NonNullable<RunLine['waiting']>, { relative }: Sheet): string {
  if (waiting.for === 'key') return 'waits for its concurrency key'
  if (waiting.for === 'overlap') return 'waits for the run before it'
  return waiting.until === undefined ? 'waits' : relative(waiting.until)
}

export const runShown: Facts<Run> = {
  head: ({ id, status, target }, sheet) =>
    `${sheet.paint.bold(id)}  ${sheet.status(status)}  ${targetInWords(target, sheet.kinds)}`,
  facts: [
    ['of', ({ schedule }) => schedule && `schedule ${plainText(schedule)}`],
    ['source', 'source', 'text'],
    ['about', (run, { origins }) => origins[run.source]?.about?.(run) ?? null],
    ['queue', 'queue', 'text'],
    [
      'planned for',
      (run, { when }) => {
        const at = standsFor(run)
        return at === null ? null : when(at)
      },
    ],
    ['made', 'enqueuedAt', 'when'],
    ['waits', ({ waiting }, sheet) => (waiting === undefined ? null : waitText(waiting, sheet) + because(waiting))],
    ['leased', ({ lease }, { when }) => lease && `by ${lease.workerId} ${when(lease.leasedAt)}`],
    [
      'cancel',
      ({ lease }, { when }) => (lease?.cancelRequestedAt == null ? null : `asked for ${when(lease.cancelRequestedAt)}`),
    ],
    ['parked', ({ parked }, { when }) => parked && when(parked.at) + because(parked)],
    ['ended', ({ end }, { when }) => end && when(end.at) + because(end)],
    [
      'attempts',
      ({ fence, attempts, maxAttempts }) =>
        `${fence}, of which ${attempts} used the budget${maxAttempts === undefined ? '' : ` of ${maxAttempts}`}`,
    ],
    ['backoff', ({ backoff }) => (backoff === undefined ? null : waitsInWords(backoff))],
    ['timeout', 'timeoutMs', 'duration'],
    ['key', 'concurrencyKey', 'text'],
    ['idempotency key', 'idempotencyKey', 'text'],
    ['retry of', 'retryOf', 'text'],
    ['payload', 'payload', 'json'],
    [
      'result',
      ({ result }) =>
        result && `${shortText(JSON.stringify(result.value), resultWidth)}${result.truncated ? ' (truncated)' : ''}`,
    ],
  ],
  added: 'run',
  below({ id, output, attempt }, { paint, command, facts }) {
    const known =
      attempt === undefined ? [] : [indented(facts([], attempt, 'attempt'))].filter((text) => text.trim() !== '')
    const more = paint.dim(`why: ${command('explain', 'run', id)}    output: ${command('run', 'output', id)}`)
    const put = output === undefined ? [] : ['', output?.text || 'There is no output.']
    return [...known, indented(more), ...put].join('\n')
  },
}

function because({ reason }: { readonly reason: string | null }): string {
  return reason === null ? '' : `: ${plainText(reason)}`
}

type Attempt = z.output<typeof attemptSchema>

export const attemptsShown: Listing<readonly Attempt[], Attempt> = {
  none: 'No attempt has ended yet.',
  columns: [
    ['ATTEMPT', 'fence', 'count'],
    ['STARTED', 'startedAt', 'when'],
    [
      'TOOK',
      ({ startedAt, endedAt }, { howLong }) => (startedAt === null ? null : howLong(Math.max(0, endedAt - startedAt))),
    ],
    ['WORKER', 'workerId', 'text'],
    ['OUTCOME', 'outcome', 'status'],
    ['WHY', 'reason', 'long'],
    [
      '',
      (attempt, { added, kinds }) => {
        const known = addedInWords(added.attempt, attempt, { kinds, as: 'facts' })
        return plainText(known.map(([, words]) => words).join('; '))
      },
    ],
  ],
}

export function enqueuedShown(answer: EnqueuedRun, { isRehearsal, command }: Sheet): string {
  const { created, id } = answer
  if (isRehearsal)
    return created ? 'would enqueue it (dry run: nothing was written)' : `would return ${id}, which exists already`
  if (!created) {
    const isDuplicate = answer.because === 'dedupe-key'
    return `${id} exists already: ${isDuplicate ? 'a live run has its dedupe key' : 'the same work has its idempotency key'}`
  }
  const { queueCreated } = answer
  const note =
    queueCreated === undefined
      ? ''
      : `\n  queue ${plainText(queueCreated.name)} is new: ${queueCreated.maxConcurrent} at a time`
  return `enqueued ${id}${note}\n  follow it: ${command('run', 'output', '-f', id)}`
}
