import { plainText } from '../../operations/schedule/plain-text.ts'
import { type Column, indented, rehearsed, type Sheet } from '../../operations/show.ts'
import type { Backfilled } from './backfill.ts'

/** The most instants that are shown; the JSON has all. */
const shownMax = 20

const whys: Readonly<Record<Backfilled['left'][number]['because'], string>> = {
  'has-run': 'became a run when it was due',
  'made-before': 'an earlier backfill created its run',
  forgotten: 'may have run: it is older than the ledger; --again creates a run',
  due: 'is due and will be fired',
  'before-start': 'before the start of the schedule',
  'after-end': 'after the end of the schedule',
}

const keptWords = { held: 'held while the schedule is paused', overlap: 'they run one after another, oldest first' }

interface Line {
  readonly at: number
  readonly words: string
}

const columns: readonly Column<Line>[] = [
  ['INSTANT', 'at', 'stamp'],
  ['', ({ words }) => words],
]

export function showBackfill({ schedule, made, left, kept }: Backfilled, sheet: Sheet): string {
  const { paint, isRehearsal } = sheet
  const count = `${made.length} ${made.length === 1 ? 'run' : 'runs'} of ${plainText(schedule)}`
  const why = kept === undefined ? '' : `; ${keptWords[kept]}`
  const see = made.length === 0 ? '' : `\n  see them: ${sheet.command('run', 'list', '--schedule', schedule)}`
  const head = isRehearsal ? `would create ${count}${why} ${rehearsed}` : `created ${count}${why}${see}`
  const rows = [
    ...made.map(({ at, run }) => ({ at, words: isRehearsal ? '' : paint.bold(run) })),
    ...left.map(({ at, because, run }) => ({
      at,
      words: paint.dim(`left: ${whys[because]}${run ? ` (${run})` : ''}`),
    })),
  ].sort((a, b) => a.at - b.at)
  if (rows.length === 0) return `${head}: it has no instant in that range`
  const more = rows.length > shownMax ? [paint.dim(`  and ${rows.length - shownMax} more; --json has them all`)] : []
  return [head, indented(sheet.table(columns, rows.slice(0, shownMax))), ...more].join('\n')
}
