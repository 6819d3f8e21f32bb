import { cron } from '../../core/cron/cron.ts'
import { CronError } from '../../core/cron/cron-error.ts'
import { formatDuration } from '../../core/duration.ts'
import type { OwnBackoff } from '../../core/run/retries.ts'
import { priorityDefault } from '../../core/run/work-fields.ts'
import { overlapOf, queueMaxOf } from '../../core/schedule/overlap.ts'
import { missedListMax } from '../../core/timing/missed.ts'
import { backedOffEveryMs, backoffDoublingsMax } from '../../core/timing/schedule-backoff.ts'
import type { TargetKind } from '../../targets/kind.ts'
import { type AddedFields, addedInWords } from '../fields/added-fields.ts'
import { isoText } from '../input/instant.ts'
import { quoted } from '../input/refuse-input.ts'
import { targetInWords } from '../target/target-in-words.ts'
import { plainText } from './plain-text.ts'
import type { ScheduleDefinition } from './schedule-answer.ts'

/** Describes a schedule in a few short sentences: when it runs, its bounds, its overlap and missed rules, its target. Defaults are left out. */
export function scheduleInWords(
  schedule: ScheduleDefinition,
  kinds: readonly TargetKind[],
  added: AddedFields['schedule'] = {},
): string {
  const sentences = [
    timing(schedule),
    bounds(schedule),
    overlap(schedule),
    missed(schedule),
    failures(schedule),
    targetInWords(schedule.target, kinds),
    place(schedule),
    attempts(schedule),
    listed(addedInWords(added, schedule, { kinds, as: 'clauses' }).map(([clause, words]) => `${clause} ${words}`)),
  ]
  const told = sentences.filter((sentence) => sentence !== '')
  return plainText(told.map((sentence) => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}.`).join(' '))
}

function timing({ cron: expression, zone = '', everyMs, from, at, startAt, startNow }: ScheduleDefinition): string {
  if (expression !== undefined) return calendar(expression, zone)
  if (at !== undefined) return `once, at ${instantText(at)}`
  if (everyMs === undefined) return 'no timing of its own: it runs by a hint or by hand'
  const grid = `on a grid that begins ${startAt === undefined ? 'with the schedule' : `at ${instantText(startAt)}`}`
  const counted = from === 'start' ? grid : 'counted from the end of the run before'
  return `every ${formatDuration(everyMs)}, ${counted}${startNow === true ? ', the first at once' : ''}`
}

/** Another process may have written a time zone that this one does not have; the rest can still be described. */
function calendar(expression: string, zone: string): string {
  try {
    return cron(expression, zone).describe()
  } catch (error) {
    if (!(error instanceof CronError)) throw error
    return `at the instants of the cron ${quoted(expression)} (${zone}), which this machine cannot read`
  }
}

function bounds({ startAt, endAt, maxRuns, minMs, maxMs, everyMs, from, window, zone }: ScheduleDefinition): string {
  const isGridStart = everyMs !== undefined && from === 'start'
  return listed([
    startAt === undefined || isGridStart ? '' : `not before ${instantText(startAt)}`,
    endAt === undefined ? '' : `not after ${instantText(endAt)}`,
    maxRuns === undefined ? '' : `at most ${counted(maxRuns, 'run')}`,
    minMs === undefined ? '' : `at least ${formatDuration(minMs)} between two runs`,
    maxMs === undefined ? '' : `at most ${formatDuration(maxMs)} between two runs`,
    window === undefined ? '' : `hints of rules, planners and agents only in the minutes ${window} (${zone ?? 'UTC'})`,
  ])
}

function overlap(schedule: ScheduleDefinition): string {
  switch (overlapOf(schedule)) {
    case 'skip':
      return ''
    case 'allow':
      return 'runs may overlap'
    case 'cancel':
      return 'the next run cancels a run that has not ended'
    case 'queue':
      return `while a run has not ended, at most ${queueMaxOf(schedule)} may wait`
  }
}

function missed({ missed: rule = 'once', maxLatenessMs }: ScheduleDefinition): string {
  const late = maxLatenessMs === undefined ? '' : `at most ${formatDuration(maxLatenessMs)} late`
  switch (rule) {
    case 'skip':
      return 'missed occurrences are skipped'
    case 'all':
      return listed([`the newest ${missedListMax} missed occurrences are run`, late])
    case 'once':
      return late === '' ? '' : `missed occurrences are run once, ${late}`
  }
}

function failures({ pauseAfterFailures, maxNoop }: ScheduleDefinition): string {
  return listed([
    pauseAfterFailures === undefined ? '' : `paused after ${counted(pauseAfterFailures, 'failure')} in a row`,
    maxNoop === undefined ? '' : `paused after ${counted(maxNoop, 'run')} in a row without work`,
  ])
}

/** The effect of failures on an interval. It is a default, so it is shown apart; but few people would guess it. */
export function backoffInWords({ everyMs, maxMs }: Pick<ScheduleDefinition, 'everyMs' | 'maxMs'>): string | null {
  if (everyMs === undefined) return null
  const backedOffMs = backedOffEveryMs({ everyMs, failureCount: backoffDoublingsMax })
  const longestMs = Math.min(maxMs ?? Number.POSITIVE_INFINITY, backedOffMs)
  if (longestMs <= everyMs) return null
  return `Each failure in a row doubles the wait, up to ${formatDuration(longestMs)}; the first success resets it.`
}

function place({ queue = 'default', priority = priorityDefault, concurrencyKey }: ScheduleDefinition): string {
  return listed([
    queue === 'default' ? '' : `in queue ${quoted(queue)}`,
    priority === priorityDefault ? '' : `with priority ${priority}`,
    concurrencyKey === undefined ? '' : `under the key ${quoted(concurrencyKey)}`,
  ])
}

function attempts({ timeoutMs, repeatable, expect, attempts: most, backoff }: ScheduleDefinition): string {
  return listed([
    most === undefined ? '' : `a run has at most ${counted(most, 'attempt')}`,
    backoff === undefined ? '' : `between two attempts it waits ${waitsInWords(backoff)}`,
    timeoutMs === undefined ? '' : `an attempt may take ${formatDuration(timeoutMs)}`,
    expect === undefined ? '' : 'its response is checked',
    repeatable === false ? 'not repeated when its effect is unknown' : '',
  ])
}

/** A backoff in words, such as "5s at first, 2 times as long each time, at most 1m". */
export function waitsInWords({ baseMs, factor, capMs }: OwnBackoff): string {
  const parts = [
    baseMs === undefined ? '' : `${formatDuration(baseMs)} at first`,
    factor === undefined ? '' : `${factor} times as long each time`,
    capMs === undefined ? '' : `at most ${formatDuration(capMs)}`,
  ]
  return listed(parts)
}

function listed(clauses: readonly string[]): string {
  return clauses.filter((clause) => clause !== '').join(', ')
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Without seconds and ms where they are zero. */
function instantText(at: number): string {
  return isoText(at)
    .replace(/\.000Z$/, 'Z')
    .replace(/:00Z$/, 'Z')
}
