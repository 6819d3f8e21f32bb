import type { z } from 'zod'
import { formatDuration } from '../../core/duration.ts'
import { type AuthorKind, rankNames, rankOf } from '../../core/schedule/hint-author.ts'
import { backedOffEveryMs } from '../../core/timing/schedule-backoff.ts'
import { type Column, type Facts, indented, type Listing, type Sheet } from '../show.ts'
import { plainText, shortText } from './plain-text.ts'
import type { Schedule } from './schedule-answer.ts'
import { scheduleInWords } from './schedule-in-words.ts'
import type { hintSchema, ledgerRow, ScheduleVersion } from './schedule-schema.ts'
import type { UpcomingRun } from './upcoming.ts'

function timingOf({ cron, zone, everyMs, from, at, failureCount }: Schedule, sheet: Sheet): string {
  if (cron !== undefined) return `${cron} ${zone ?? ''}`.trim()
  if (everyMs !== undefined) {
    const waitMs = backedOffEveryMs({ everyMs, failureCount })
    const now = failureCount === 0 ? '' : ` (${formatDuration(waitMs)} after failures)`
    return `every ${formatDuration(everyMs)}${from === 'start' ? ' from start' : ''}${now}`
  }
  return at === undefined ? 'none' : `at ${sheet.stamp(at)}`
}

/** When it runs next, in its own time zone. */
export function nextOf(
  { nextDueAt, waitsFor, disabled, paused, heldBy, deletedAt, zone }: Schedule,
  sheet: Sheet,
): string {
  const own = sheet.inZone(zone)
  if (deletedAt !== null || disabled !== null) return '-'
  if (paused !== null) return `after ${own.local(paused.until)}`
  if (heldBy !== undefined) return `after ${heldBy}`
  if (nextDueAt !== null) return `${nextDueAt < sheet.now ? 'due ' : ''}${own.when(nextDueAt)}`
  return waitsFor === null ? '-' : `when ${waitsFor} has ended`
}

function standing(schedule: Schedule, { paint, relative }: Sheet): string {
  const { disabled, paused, heldBy, deletedAt, failureCount, nextDueAt, waitsFor, finished } = schedule
  if (deletedAt !== null) return paint.dim(`deleted ${relative(deletedAt)}`)
  if (disabled !== null || paused !== null) return paint.yellow('paused')
  if (heldBy !== undefined) return paint.yellow(`held by ${heldBy}`)
  // A server of an earlier version does not send this field.
  if (finished != null) return paint.dim(`finished: ${finished}`)
  if (failureCount > 0) return paint.red(`${failureCount} ${failureCount === 1 ? 'failure' : 'failures'} in a row`)
  if (nextDueAt === null && waitsFor === null) return paint.dim('over')
  return paint.green(waitsFor === null ? 'waiting' : 'live run')
}

const hello = ['schedule', 'create', 'hello', '--every', '10s', '--start-now', '--command', '--', 'date']

export const schedulesShown: Listing<readonly Schedule[], Schedule> = {
  none: (sheet) => `No schedules yet. Create one: ${sheet.command(...hello)}`,
  columns: [
    [
      'NAME',
      ({ name, id, deletedAt }, { paint }) => paint.bold(plainText(deletedAt === null ? name : `${name} (${id})`)),
    ],
    ['TIMING', timingOf],
    ['NEXT', nextOf],
    ['STANDS', standing],
    ['DOES', 'target', 'target'],
  ],
}

export const scheduleShown: Facts<Schedule> = {
  head(schedule, sheet) {
    const { name, description } = schedule
    const about = description === undefined ? [] : [indented(plainText(description))]
    const head = `${sheet.paint.bold(plainText(name))}  ${standing(schedule, sheet)}`
    return [head, ...about, indented(scheduleInWords(schedule, sheet.kinds, sheet.added.schedule))].join('\n')
  },
  facts: [
    ['next', nextOf],
    ['because', ({ nextDecision }) => nextDecision?.source ?? null],
    ['paused', ({ disabled }, { when }) => disabled && `since ${when(disabled.at)}: ${plainText(disabled.reason)}`],
    ['paused', ({ paused }, { when }) => paused && `until ${when(paused.until)}: ${plainText(paused.reason)}`],
    ['paused by', ({ pauses }, { when }) => pausesTold(pauses, when)],
    ['deleted', 'deletedAt', 'when'],
    [
      'hint',
      ({ hints: { interval } }, { when }) =>
        interval === undefined
          ? null
          : `every ${formatDuration(interval.ms)}${authorOf(interval)}, until ${when(interval.expiresAt)}`,
    ],
    [
      'hint',
      ({ hints: { oneshot } }, { when }) =>
        oneshot === undefined
          ? null
          : `once, ${when(oneshot.at)}${authorOf(oneshot)}, until ${when(oneshot.expiresAt)}`,
    ],
    ['outranked', ({ hints: { outranked } }, { when }) => outrankedTold(outranked, when)],
    ['failures', ({ failureCount }) => (failureCount === 0 ? null : `${failureCount} in a row`)],
    ['no-ops', ({ noopCount }) => (noopCount === 0 ? null : `${noopCount} in a row`)],
    ['runs', 'runsCount', 'count'],
    ['payload', 'payload', 'json'],
    ['tags', 'tags', 'list'],
    ['version', ({ version, updatedAt }, { when }) => `${version}, written ${when(updatedAt)}`],
    ['id', 'id', 'text'],
  ],
  below: ({ name }, { paint, command }) => indented(paint.dim(`why: ${command('explain', 'schedule', name)}`)),
}

/** Pauses of several authors, or of one that is no person. */
function pausesTold(pauses: Schedule['pauses'], when: Sheet['when']): string | null {
  if (pauses.length === 0 || (pauses.length === 1 && pauses[0]?.author === '')) return null
  return pauses.map(({ by, author, until }) => `${by} ${plainText(author)} until ${when(until)}`).join('; ')
}

function authorOf({ by }: { readonly by?: AuthorKind | undefined }): string {
  return ` by a ${by ?? 'person'}`.replace('a agent', 'an agent')
}

/** Hints that count again when those above them have ended. */
function outrankedTold(outranked: Schedule['hints']['outranked'], when: Sheet['when']): string | null {
  if (outranked === undefined) return null
  const told = outranked.map((hint) => {
    const wish = hint.kind === 'interval' ? `every ${formatDuration(hint.ms)}` : `once, ${when(hint.at)}`
    return `${wish}${authorOf(hint)}, until ${when(hint.expiresAt)}`
  })
  return told.join('; ')
}

/** Says what set the instant, where it was not the schedule's own timing. */
const wishes: Partial<Record<UpcomingRun['source'], string>> = {
  'ai-interval': 'by a hint',
  'ai-oneshot': 'by a hint',
  'clamped-min': 'moved by min',
  'clamped-max': 'moved by max',
  'clamped-window': 'a hint, moved by its window',
}

/** The next occurrences, a line each: local time, UTC, how far away, and notes. A spread occurrence is shown by its nominal instant, which is its identity. */
export function upcomingShown(runs: readonly UpcomingRun[], sheet: Sheet): string {
  if (runs.length === 0) return 'It has no next occurrence.'
  // Noted only once: every occurrence after an estimate is an estimate.
  const firstEstimate = runs.find(({ isEstimate }) => isEstimate)
  const columns: readonly Column<UpcomingRun>[] = [
    ['', ({ at, zone }) => sheet.inZone(zone).stamp(at)],
    ['', ({ at }) => sheet.paint.dim(sheet.utc(at))],
    ['', 'dueAt', 'relative'],
    ['', (run) => sheet.paint.yellow(remarksOn(run, run === firstEstimate, sheet).join('; '))],
  ]
  return sheet.table(columns, runs)
}

function remarksOn({ at, dueAt, source, dst }: UpcomingRun, saysEstimate: boolean, { howLong }: Sheet): string[] {
  const spreadMs = dueAt - at
  return [
    dst?.says,
    wishes[source],
    spreadMs === 0 ? undefined : `spread: starts ${howLong(Math.abs(spreadMs))} ${spreadMs > 0 ? 'later' : 'earlier'}`,
    saysEstimate ? 'from here on an estimate: as if runs took no time' : undefined,
  ].filter((remark) => remark !== undefined)
}

type LedgerRow = z.output<typeof ledgerRow>

function byHand({ paint, command }: Sheet): string {
  const list = command('run', 'list', '--schedule', 'NAME')
  return paint.dim(`Runs created by hand are not occurrences; ${list} shows them too.`)
}

export const historyShown: Listing<readonly LedgerRow[], LedgerRow> = {
  none: (sheet) => `None of its occurrences has ended yet.\n${byHand(sheet)}`,
  columns: [
    ['OCCURRENCE', ({ from, to, count }, { stamp }) => stamp(from) + (count > 1 ? ` … ${stamp(to)}` : '')],
    ['', 'from', 'relative'],
    ['OUTCOME', 'outcome', 'status'],
    [
      '',
      ({ count, countIsAtLeast }) => (count > 1 ? `${countIsAtLeast ? 'at least ' : ''}${count} occurrences` : null),
    ],
    ['RUN', ({ runId, causedBy }) => runId ?? (causedBy === null ? null : `because of ${causedBy}`)],
    [
      '',
      ({ runId, endedAt, from }, { howLong }) =>
        runId === null || endedAt === null ? null : `ended ${howLong(Math.max(0, endedAt - from))} after its instant`,
    ],
  ],
  below: (rows, sheet) => (rows.length === 0 ? null : byHand(sheet)),
}

type Hint = z.output<typeof hintSchema>

export const hintsShown: Listing<readonly Hint[], Hint> = {
  none: 'No hints were given.',
  columns: [
    ['HINT', ({ kind, value }, { stamp }) => (kind === 'interval' ? `every ${formatDuration(value)}` : stamp(value))],
    [
      'STANDS',
      ({ ended, expiresAt, outrankedBy }, { now, local }) => {
        if (ended !== null || expiresAt <= now) return ended?.by ?? 'expired'
        const lost = outrankedBy === undefined ? '' : `lost to ${rankNames[rankOf(outrankedBy)]}, `
        return `${lost}until ${local(expiresAt)}`
      },
    ],
    ['BY', ({ by, author }) => (by === author ? by : `${by} ${shortText(author, authorWidth)}`)],
    ['WHY', 'reason', 'long'],
    ['CHANGED', ({ wasNextAt, nextAt }, sheet) => `next ${nextIn(wasNextAt, sheet)} to ${nextIn(nextAt, sheet)}`],
    ['CAME OF IT', outcomeOf],
  ],
}

const authorWidth = 40

function nextIn(at: number | null, { stamp }: Sheet): string {
  return at === null ? 'none yet' : stamp(at)
}

/** The runs while the hint was in force, and those of the schedule's own timing to compare. */
function outcomeOf({ outcome }: Hint, { howLong }: Sheet): string | null {
  if (outcome === null) return null
  const { starts, failures, firstFailureMs, baseline, isAtLeast } = outcome
  const first = firstFailureMs === null ? '' : `, the first after ${howLong(firstFailureMs)}`
  const own = `${isAtLeast ? 'at least ' : ''}${starts} ${starts === 1 ? 'start' : 'starts'}, ${failures} failed${first}`
  if (baseline === null) return `${own}; not enough to compare`
  const usual = baseline.firstFailureMs === null ? '' : `, the first after ${howLong(baseline.firstFailureMs)}`
  return `${own}; else ${baseline.starts}, ${baseline.failures} failed${usual}`
}

export const versionsShown: Listing<readonly ScheduleVersion[], ScheduleVersion> = {
  columns: [
    ['VERSION', 'version', 'count'],
    ['WRITTEN', 'at', 'when'],
    ['BY', ({ actor, door }) => plainText(actor) + (door === null ? '' : ` (${plainText(door)})`)],
    ['SAYS', ({ content }, { kinds, added }) => shortText(scheduleInWords(content, kinds, added.schedule), wordsWidth)],
    ['WHY', 'reason', 'long'],
  ],
}

const wordsWidth = 200
