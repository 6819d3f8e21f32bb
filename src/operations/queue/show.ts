import { formatDuration } from '../../core/duration.ts'
import type { Policy } from '../../core/queue/policy.ts'
import type { Counted, QueueStats } from '../../store/views.ts'
import { plainText } from '../schedule/plain-text.ts'
import { type Column, type Facts, indented, type Listing, rehearsed, type Sheet, written } from '../show.ts'
import type { QueueWritten } from './noun.ts'
import type { PolicyDiff, PolicyVersion } from './policy-history.ts'

type Queue = QueueWritten['queue']

function standing({ paused, policy, createdAt }: Queue, { paint, relative }: Sheet): string {
  if (createdAt === null) return paint.dim('does not exist yet; the first run creates it with these defaults')
  if (policy === null) return paint.red('its policy cannot be read: no run is leased')
  if (paused === null) return paint.green('open')
  return paint.yellow(`paused ${relative(paused.at)}: ${plainText(paused.reason)}`)
}

export const queuesShown: Listing<readonly Queue[], Queue> = {
  columns: [
    ['NAME', 'name', 'name'],
    ['AT WORK', ({ inFlight, policy }) => `${inFlight} of ${policy?.maxConcurrent ?? '?'}`],
    ['STANDS', standing],
  ],
}

const policyFacts: readonly Column<Policy>[] = [
  ['max-concurrent', 'maxConcurrent', 'count'],
  ['max-concurrent-per-key', 'maxConcurrentPerKey', 'count'],
  ['max-attempts', 'maxAttempts', 'count'],
  [
    'backoff',
    ({ backoffBaseMs, backoffFactor, backoffCapMs }) =>
      `${formatDuration(backoffBaseMs)} × ${backoffFactor}^(n−1), at most ${formatDuration(backoffCapMs)}`,
  ],
  ['backoff-spread', 'backoffSpread', 'count'],
  ['rate-limit', ({ rateLimit: rate }) => (rate ? `${rate.startsMax} starts in ${formatDuration(rate.perMs)}` : null)],
  ['on-exhausted', 'onExhausted', 'text'],
  ['lease-ttl', ({ leaseTtlMs }) => `${formatDuration(leaseTtlMs)} for outside hosts`],
  [
    'kept',
    ({ retention: { completedMs, failedMs, ledgerMs, endedRunsMax, parkedMs } }) =>
      [
        `completed ${formatDuration(completedMs)}`,
        `failed ${formatDuration(failedMs)}`,
        `history ${formatDuration(ledgerMs)}`,
        `at most ${endedRunsMax} ended runs`,
        ...(parkedMs === undefined ? [] : [`parked ${formatDuration(parkedMs)}`]),
      ].join(', '),
  ],
]

type Shown = Policy & Pick<Queue, 'inFlight' | 'policyVersion'>

/** A queue; `after` is printed after its name. */
export function queueShown(queue: Queue, sheet: Sheet, after = ''): string {
  const { name, policy, inFlight, policyVersion } = queue
  const columns: readonly Column<Shown>[] = [
    ['at work', 'inFlight', 'count'],
    ...(policy === null ? [] : policyFacts),
    ['version', 'policyVersion', 'count'],
  ]
  const row = { ...policy, inFlight, policyVersion } as Shown
  const head = `${sheet.paint.bold(plainText(name))}  ${standing(queue, sheet)}${after}`
  return `${head}\n${indented(sheet.facts(columns, row, 'queue'))}`
}

export function queueWrittenShown({ answer, queue }: QueueWritten, sheet: Sheet): string {
  return `${written(answer, sheet)} queue ${queueShown(queue, sheet, sheet.isRehearsal ? ` ${rehearsed}` : '')}`
}

function counted({ count, countIsAtLeast }: Counted): string {
  return countIsAtLeast ? `more than ${count}` : String(count)
}

function unlessNone(figure: Counted): string | null {
  return figure.count === 0 ? null : counted(figure)
}

export const statsShown: Facts<QueueStats> = {
  facts: [
    [
      'in line',
      ({ inLine, oldestInLineAt, oldestInLineIsAtLeast }, { relative }) => {
        if (oldestInLineAt === null) return counted(inLine)
        const earlier = oldestInLineIsAtLeast ? ' or earlier' : ''
        return `${counted(inLine)}, the oldest made ${relative(oldestInLineAt)}${earlier}`
      },
    ],
    ['at work', 'inFlight', 'count'],
    ['waiting for an instant', ({ waiting }) => unlessNone(waiting)],
    ['behind their key', ({ behindKey }) => unlessNone(behindKey)],
    ['behind another run', ({ behindRun }) => unlessNone(behindRun)],
    ['held by a pause', ({ held }) => unlessNone(held)],
    ['parked', ({ parked }) => counted(parked)],
    [
      'ended in the last minute',
      ({ ended }) => {
        const some = Object.entries(ended).filter(([, figure]) => figure.count > 0)
        return some.map(([status, figure]) => `${counted(figure)} ${status}`).join(', ') || 'none'
      },
    ],
  ],
  below: ({ parkedByReason }, { table }) =>
    parkedByReason.length === 0 ? null : indented(table(parkedColumns, parkedByReason)),
}

const parkedColumns: readonly Column<QueueStats['parkedByReason'][number]>[] = [
  ['PARKED', 'count', 'count'],
  ['WHY', 'reason', 'text'],
]

export const policyVersionsShown: Listing<readonly PolicyVersion[], PolicyVersion> = {
  columns: [
    ['VERSION', 'version', 'name'],
    ['SINCE', 'at', 'when'],
    ['BY', 'actor', 'text'],
    [
      '',
      ({ policy }, { paint }) =>
        policy === null ? paint.red('cannot be read') : `max-concurrent ${policy.maxConcurrent}`,
    ],
  ],
}

export function policyDiffShown({ from, to, changes }: PolicyDiff, { paint, table }: Sheet): string {
  if (changes.length === 0) return `versions ${from} and ${to} are the same`
  const said = (value: unknown) => (value === undefined ? paint.dim('none') : JSON.stringify(value))
  const columns: readonly Column<PolicyDiff['changes'][number]>[] = [
    ['FIELD', 'field', 'text'],
    [`VERSION ${from}`, ({ before }) => said(before)],
    [`VERSION ${to}`, ({ after }) => said(after)],
  ]
  return table(columns, changes)
}
