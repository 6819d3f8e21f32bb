import { formatDuration } from '../../core/duration.ts'
import { indented, rehearsed, type Sheet, written as wordFor } from '../show.ts'
import { targetInWords } from '../target/target-in-words.ts'
import { plainText, shortText } from './plain-text.ts'
import type { Schedule } from './schedule-answer.ts'
import { backoffInWords } from './schedule-in-words.ts'
import type { ScheduleWritten } from './schedule-writes.ts'
import { upcomingShown } from './show.ts'

/** Prints what was written: the result and the place, the schedule in words, its next instants, and the changes. */
export function showScheduleWritten(written: ScheduleWritten, sheet: Sheet): string {
  const { next, schedule, inWords, answer, queueCreated } = written
  const parts: [string, string][] = [['next', next.length === 0 ? whyNone(schedule) : upcomingShown(next, sheet)]]
  if (queueCreated !== undefined) {
    const { name, maxConcurrent } = queueCreated
    parts.push(['queue', `${plainText(name)} is new: at most ${maxConcurrent} at a time`])
  }
  if (answer === 'updated') parts.push(['changed', changesIn(written, sheet)])
  const backoff = backoffInWords(schedule)
  const said = backoff === null ? inWords : `${inWords}\n${sheet.paint.dim(backoff)}`
  return [headline(written, sheet), indented(said), indented(sheet.aligned(parts.flatMap(lines)))].join('\n')
}

function headline({ answer, schedule }: ScheduleWritten, sheet: Sheet): string {
  const { paint, place, isRehearsal } = sheet
  const colour = isRehearsal ? paint.yellow : answer === 'unchanged' ? (text: string) => text : paint.green
  const end = isRehearsal ? paint.yellow(` ${rehearsed}`) : ''
  return `${colour(wordFor(answer, sheet))} ${paint.bold(plainText(schedule.name))} in ${place}${end}`
}

function lines([label, text]: readonly [string, string]): string[][] {
  return text.split('\n').map((line, index) => [index === 0 ? label : '', line])
}

function whyNone({ disabled, cron, everyMs, at }: Schedule): string {
  if (disabled !== null) return `none until it is resumed: ${plainText(disabled.reason)}`
  return cron === undefined && everyMs === undefined && at === undefined ? 'none of its own' : 'none any more'
}

type Field = Exclude<keyof ScheduleWritten['was'], undefined>

function changesIn({ changed, was, schedule }: ScheduleWritten, sheet: Sheet): string {
  return changed
    .map((name) => {
      const field = name as Field
      const [before, after] = [shown(field, was[field], sheet), shown(field, schedule[field], sheet)]
      // A target's environment, headers and body are not shown here either.
      const change = before === after ? `${after} (in fields that are not shown)` : `${before} → ${after}`
      return `${field.replace(/Ms$/, '')}: ${change}`
    })
    .join('\n')
}

const instants: ReadonlySet<Field> = new Set<Field>(['at', 'startAt', 'endAt'])
const valueLengthMax = 100

function shown(field: Field, value: unknown, { utc, kinds }: Sheet): string {
  if (value === undefined || value === null) return 'none'
  if (field === 'target') return targetInWords(value as Schedule['target'], kinds)
  if (instants.has(field)) return utc(value as number)
  if (field.endsWith('Ms')) return formatDuration(value as number)
  return shortText(typeof value === 'string' ? value : JSON.stringify(value), valueLengthMax)
}
