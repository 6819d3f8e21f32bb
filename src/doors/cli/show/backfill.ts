import type { Backfilled, InstantLeft } from '../../../operations/schedule/backfill.ts'
import { plainText } from '../../../operations/schedule/plain-text.ts'
import { columns, indented } from '../columns.ts'
import { commandFor, type Sheet } from '../sheet.ts'
import { stamp } from '../when.ts'

/** As many instants as a person looks at; all of them are in the JSON. */
const shownMax = 20

const whys: Readonly<Record<InstantLeft['because'], string>> = {
  'has-run': 'became a run when its time came',
  'made-before': 'was made up before',
  forgotten: 'nobody knows any more whether it has run; --again makes it',
  due: 'is due, and about to be decided over',
  'before-start': 'before the start of the schedule',
  'after-end': 'after the end of the schedule',
}

const keptWords = { held: 'held while the schedule is paused', overlap: 'one goes after the other, oldest first' }

export function showBackfill(
  { schedule, made, left, kept }: Backfilled,
  sheet: Sheet,
  { isRehearsal }: { readonly isRehearsal: boolean },
): string {
  const { zone, paint } = sheet
  const name = plainText(schedule)
  const count = `${made.length} ${made.length === 1 ? 'run' : 'runs'} of ${name}`
  const why = kept === undefined ? '' : `; ${keptWords[kept]}`
  const head = isRehearsal
    ? `would make ${count}${why} (a rehearsal: nothing was written)`
    : `made ${count}${why}${made.length === 0 ? '' : `\n  see them: ${commandFor(sheet, 'run', 'list', '--schedule', schedule)}`}`
  const rows = [
    ...made.map(({ at, run }) => ({ at, words: isRehearsal ? '' : paint.bold(run) })),
    ...left.map(({ at, because, run }) => ({
      at,
      words: paint.dim(`left: ${whys[because]}${run ? ` (${run})` : ''}`),
    })),
  ].sort((a, b) => a.at - b.at)
  if (rows.length === 0) return `${head}: it has no instant in that stretch`
  const shown = rows.slice(0, shownMax).map(({ at, words }) => [stamp(at, zone), words])
  const more = rows.length > shownMax ? [paint.dim(`  and ${rows.length - shownMax} more; --json has them all`)] : []
  return [head, indented(columns(['INSTANT', ''], shown)), ...more].join('\n')
}
