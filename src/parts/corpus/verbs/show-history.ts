import { diffHunks, lineDiff } from '../../../core/corpus/line-diff.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import type { Sheet } from '../../../operations/show.ts'
import type { DiffAnswer, HistoryAnswer, RepairAnswer } from './history-verbs.ts'

export function showHistory({ path, snapshots }: HistoryAnswer, sheet: Sheet): string {
  if (snapshots.length === 0) return `${plainText(path)} has no snapshot yet; the end of each full cycle keeps one`
  return sheet.table(
    [
      ['SNAPSHOT', 'snapshot', 'name'],
      ['KEPT', ({ at }) => (at === null ? '' : sheet.relative(at))],
      ['KIND', 'kind', 'text'],
      ['BYTES', 'bytes', 'count'],
    ],
    snapshots,
  )
}

export function showDiff({ path, from, to, changes }: DiffAnswer, sheet: Sheet): string {
  const head = `${plainText(path)}: ${from} → ${to ?? 'now'}`
  if (changes.length === 0) return `${head}\n  nothing differs`
  return [
    head,
    ...changes.flatMap((change) => [sheet.paint.bold(plainText(change.field)), ...linesOf(change, sheet)]),
  ].join('\n')
}

function linesOf({ before, after }: DiffAnswer['changes'][number], { paint }: Sheet): string[] {
  return diffHunks(lineDiff(linesIn(before), linesIn(after))).map((line) => {
    if (line === null) return paint.dim('  …')
    const [sign, written] = line
    const shown = `${sign} ${plainText(written)}`
    return sign === '-' ? paint.red(shown) : sign === '+' ? paint.green(shown) : shown
  })
}

function linesIn(value: unknown): string[] {
  if (value === undefined) return []
  return (typeof value === 'string' ? value : JSON.stringify(value, null, 2)).split('\n')
}

export function showRepaired({ repaired, left }: RepairAnswer): string {
  const lines = [
    ...repaired.map(
      ({ path, snapshot, kept }) => `repaired ${plainText(path)} from ${snapshot}; its bytes are in ${kept}`,
    ),
    ...left.map(({ path, problem }) => `left ${plainText(path)}: it ${problem}`),
  ]
  return lines.length === 0 ? 'no document needs a repair' : lines.join('\n')
}
