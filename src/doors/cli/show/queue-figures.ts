import type { z } from 'zod'
import type { PolicyDiff, PolicyVersion } from '../../../operations/queue/policy-history.ts'
import type { stats } from '../../../operations/queue/stats.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { columns, indented } from '../columns.ts'
import type { Sheet } from '../sheet.ts'
import { relative, when } from '../when.ts'
import { facts } from './facts.ts'

type Stats = z.output<typeof stats.output>
type Counted = Stats['inLine']

function counted({ count, countIsAtLeast }: Counted): string {
  return countIsAtLeast ? `more than ${count}` : String(count)
}

export function showStats(figures: Stats, { now, paint }: Sheet): string {
  const { oldestInLineAt, oldestInLineIsAtLeast, ended, parkedByReason } = figures
  const least = oldestInLineIsAtLeast ? ' or earlier' : ''
  const oldest = oldestInLineAt === null ? '' : `, the oldest made ${relative(oldestInLineAt, now)}${least}`
  const rows: [string, string | null][] = [
    ['in line', `${counted(figures.inLine)}${oldest}`],
    ['at work', String(figures.inFlight)],
    ['waiting for an instant', unlessNone(figures.waiting)],
    ['behind their key', unlessNone(figures.behindKey)],
    ['behind another run', unlessNone(figures.behindRun)],
    ['held by a pause', unlessNone(figures.held)],
    ['parked', counted(figures.parked)],
    ['ended in the last minute', endsSaid(ended)],
  ]
  const parked = parkedByReason.map(({ reason, count }) => [String(count), plainText(reason)])
  const reasons = parked.length === 0 ? [] : [indented(columns(['PARKED', 'WHY'], parked))]
  return [facts(rows, paint), ...reasons].join('\n')
}

function unlessNone(figure: Counted): string | null {
  return figure.count === 0 ? null : counted(figure)
}

function endsSaid(ended: Stats['ended']): string {
  const some = Object.entries(ended).filter(([, figure]) => figure.count > 0)
  return some.length === 0 ? 'none' : some.map(([status, figure]) => `${counted(figure)} ${status}`).join(', ')
}

export function showPolicyVersions(versions: readonly PolicyVersion[], { now, zone, paint }: Sheet): string {
  const rows = versions.map(({ version, at, actor, policy }) => [
    paint.bold(String(version)),
    when(at, { now, zone }),
    plainText(actor),
    policy === null ? paint.red('cannot be read') : `max-concurrent ${policy.maxConcurrent}`,
  ])
  return columns(['VERSION', 'SINCE', 'BY', ''], rows)
}

export function showPolicyDiff({ from, to, changes }: PolicyDiff, { paint }: Sheet): string {
  if (changes.length === 0) return `versions ${from} and ${to} are the same`
  const said = (value: unknown) => (value === undefined ? paint.dim('none') : JSON.stringify(value))
  const rows = changes.map(({ field, before, after }) => [field, said(before), said(after)])
  return columns(['FIELD', `VERSION ${from}`, `VERSION ${to}`], rows)
}
