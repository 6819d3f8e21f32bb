import type { z } from 'zod'
import { formatDuration } from '../../../core/duration.ts'
import { backedOffEveryMs } from '../../../core/timing.ts'
import { scheduleInWords } from '../../../operations/schedule/in-words.ts'
import type { hintSaid, ledgerRow, scheduleVersion } from '../../../operations/schedule/output.ts'
import { plainText, shortText } from '../../../operations/schedule/plain-text.ts'
import type { RunMade } from '../../../operations/schedule/steer.ts'
import { targetInWords } from '../../../operations/schedule/target-in-words.ts'
import type { Schedule } from '../../../operations/schedule/view.ts'
import { columns, indented } from '../columns.ts'
import { commandFor, type Sheet } from '../sheet.ts'
import { howLong, local, relative, stamp, when } from '../when.ts'
import { facts } from './facts.ts'

export function showSchedules(schedules: readonly Schedule[], sheet: Sheet): string {
  if (schedules.length === 0) {
    const first = ['schedule', 'create', 'hello', '--every', '10s', '--start-now', '--command', '--', 'date']
    return `No schedules yet. Make one: ${commandFor(sheet, ...first)}`
  }
  const { paint } = sheet
  const rows = schedules.map((schedule) => [
    paint.bold(plainText(schedule.deletedAt === null ? schedule.name : `${schedule.name} (${schedule.id})`)),
    timingOf(schedule, sheet.zone),
    nextOf(schedule, sheet),
    standing(schedule, sheet),
    shortText(targetInWords(schedule.target), targetWidth),
  ])
  return columns(['NAME', 'TIMING', 'NEXT', 'STANDS', 'DOES'], rows)
}

const targetWidth = 60

function timingOf({ cron, zone, everyMs, from, at, failureCount }: Schedule, own: string): string {
  if (cron !== undefined) return `${cron} ${zone ?? ''}`.trim()
  if (everyMs !== undefined) {
    const now =
      failureCount === 0 ? '' : ` (${formatDuration(backedOffEveryMs({ everyMs, failureCount }))} after failures)`
    return `every ${formatDuration(everyMs)}${from === 'start' ? ' from start' : ''}${now}`
  }
  return at === undefined ? 'none' : `at ${stamp(at, own)}`
}

function nextOf(schedule: Schedule, { now, zone }: Sheet): string {
  const { nextDueAt, waitsFor, disabled, paused, deletedAt } = schedule
  if (deletedAt !== null || disabled !== null) return '-'
  if (paused !== null) return `after ${local(paused.until, { now, zone: schedule.zone ?? zone })}`
  if (nextDueAt !== null) {
    const said = when(nextDueAt, { now, zone: schedule.zone ?? zone })
    return nextDueAt < now ? `due ${said}` : said
  }
  return waitsFor === null ? '-' : `when ${waitsFor} has ended`
}

function standing(schedule: Schedule, { now, paint }: Sheet): string {
  const { disabled, paused, deletedAt, failureCount, nextDueAt, waitsFor } = schedule
  if (deletedAt !== null) return paint.dim(`deleted ${relative(deletedAt, now)}`)
  if (disabled !== null || paused !== null) return paint.yellow('paused')
  if (failureCount > 0) return paint.red(`${failureCount} ${failureCount === 1 ? 'failure' : 'failures'} in a row`)
  if (nextDueAt === null && waitsFor === null) return paint.dim('over')
  return paint.green(waitsFor === null ? 'waiting' : 'live run')
}

export function showSchedule(schedule: Schedule, sheet: Sheet): string {
  const { now, paint } = sheet
  const reader = { now, zone: schedule.zone ?? sheet.zone }
  const { disabled, paused, hints, deletedAt } = schedule
  const rows: [string, string | null][] = [
    ['next', nextOf(schedule, sheet)],
    ['because', schedule.nextDecision === null ? null : schedule.nextDecision.source],
    ['paused', disabled === null ? null : `since ${when(disabled.at, reader)}: ${plainText(disabled.reason)}`],
    ['paused', paused === null ? null : `until ${when(paused.until, reader)}: ${plainText(paused.reason)}`],
    ['deleted', deletedAt === null ? null : when(deletedAt, reader)],
    [
      'hint',
      hints.interval === undefined
        ? null
        : `every ${formatDuration(hints.interval.ms)}, until ${when(hints.interval.expiresAt, reader)}`,
    ],
    [
      'hint',
      hints.oneshot === undefined
        ? null
        : `once, ${when(hints.oneshot.at, reader)}, until ${when(hints.oneshot.expiresAt, reader)}`,
    ],
    ['failures', schedule.failureCount === 0 ? null : `${schedule.failureCount} in a row`],
    ['runs', String(schedule.runsCount)],
    ['payload', schedule.payload === undefined ? null : shortText(JSON.stringify(schedule.payload), payloadWidth)],
    ['tags', schedule.tags === undefined ? null : schedule.tags.map(plainText).join(', ')],
    ['version', `${schedule.version}, written ${when(schedule.updatedAt, reader)}`],
    ['id', schedule.id],
  ]
  const about = schedule.description === undefined ? [] : [indented(plainText(schedule.description))]
  const head = `${paint.bold(plainText(schedule.name))}  ${standing(schedule, sheet)}`
  const why = paint.dim(`why: ${commandFor(sheet, 'explain', 'schedule', schedule.name)}`)
  return [head, ...about, indented(scheduleInWords(schedule)), indented(facts(rows, paint)), indented(why)].join('\n')
}

const payloadWidth = 200

export function showDeletion(
  { name }: { readonly name: string },
  _: Sheet,
  { isRehearsal }: { isRehearsal: boolean },
): string {
  return isRehearsal
    ? `would delete ${plainText(name)} (a rehearsal: nothing was written)`
    : `deleted ${plainText(name)}`
}

export function showResumption(
  answer: { readonly resumed: boolean; readonly schedule: Schedule },
  sheet: Sheet,
): string {
  const { resumed, schedule } = answer
  return `${resumed ? 'resumed' : 'was not paused:'} ${plainText(schedule.name)}, next: ${nextOf(schedule, sheet)}`
}

export function showScheduleReset(
  answer: { readonly failureCount: number; readonly schedule: Schedule },
  sheet: Sheet,
): string {
  const { failureCount, schedule } = answer
  return `reset ${plainText(schedule.name)}, failures in a row: ${failureCount} before, 0 now, next: ${nextOf(schedule, sheet)}`
}

export function showPause(schedule: Schedule, sheet: Sheet): string {
  const { paused } = schedule
  const name = plainText(schedule.name)
  const end =
    paused === null
      ? `until somebody resumes it: ${commandFor(sheet, 'schedule', 'resume', schedule.name)}`
      : `until ${when(paused.until, { now: sheet.now, zone: schedule.zone ?? sheet.zone })}`
  return `paused ${name} ${end}`
}

export function showRunMade({ id, kept }: RunMade, sheet: Sheet): string {
  const why = { held: ', which waits: its schedule is paused', overlap: ', which waits: another run has not ended' }
  return `made ${id}${kept === undefined ? '' : why[kept]}\n  follow it: ${commandFor(sheet, 'run', 'output', '-f', id)}`
}

export function showHistory(rows: readonly z.output<typeof ledgerRow>[], sheet: Sheet): string {
  const { now, zone, paint } = sheet
  const byHand = paint.dim(
    `Runs by hand are no occurrences; ${commandFor(sheet, 'run', 'list', '--schedule', 'NAME')} has them too.`,
  )
  if (rows.length === 0) return `No occurrence of it has ended yet.\n${byHand}`
  const lines = rows.map(({ from, to, count, countIsAtLeast, outcome, runId, causedBy, endedAt }) => [
    stamp(from, zone) + (count > 1 ? ` … ${stamp(to, zone)}` : ''),
    relative(from, now),
    colourOf(outcome, paint)(plainText(outcome)),
    count > 1 ? `${countIsAtLeast ? 'at least ' : ''}${count} occurrences` : '',
    runId ?? (causedBy === null ? '' : `because of ${causedBy}`),
    runId === null || endedAt === null ? '' : `ended ${howLong(Math.max(0, endedAt - from))} after its instant`,
  ])
  return `${columns(['OCCURRENCE', '', 'OUTCOME', '', 'RUN', ''], lines)}\n${byHand}`
}

export function colourOf(outcome: string, paint: Sheet['paint']): (text: string) => string {
  if (outcome === 'completed') return paint.green
  if (outcome === 'failed' || outcome === 'parked') return paint.red
  return outcome === 'leased' || outcome === 'fired' ? paint.cyan : paint.yellow
}

export function showHinted(
  answer: { readonly nextRunAt: number | null; readonly waitsFor: string | null },
  { now, zone }: Sheet,
): string {
  const { nextRunAt, waitsFor } = answer
  if (nextRunAt !== null) return `hinted; next: ${when(nextRunAt, { now, zone })}`
  return waitsFor === null ? 'hinted; nothing comes next' : `hinted; the next waits for the end of ${waitsFor}`
}

export function showCleared({ cleared }: { readonly cleared: readonly string[] }): string {
  return `cleared: ${cleared.join(', ') || 'nothing'}`
}

export function showHints(hints: readonly z.output<typeof hintSaid>[], { now, zone }: Sheet): string {
  if (hints.length === 0) return 'No hints were given.'
  const rows = hints.map(({ kind, value, expiresAt, reason, author, ended }) => [
    kind,
    kind === 'interval' ? `every ${formatDuration(value)}` : stamp(value, zone),
    ended === null && expiresAt > now ? `counts until ${local(expiresAt, { now, zone })}` : (ended?.by ?? 'expired'),
    plainText(author),
    shortText(reason, payloadWidth),
  ])
  return columns(['KIND', 'HINT', 'STANDS', 'BY', 'WHY'], rows)
}

export function showVersions(versions: readonly z.output<typeof scheduleVersion>[], { now, zone }: Sheet): string {
  const rows = versions.map(({ version, content, at, actor, door, reason }) => [
    String(version),
    when(at, { now, zone }),
    `${plainText(actor)}${door === null ? '' : ` (${plainText(door)})`}`,
    shortText(scheduleInWords(content), payloadWidth),
    reason === null ? '' : shortText(reason, payloadWidth),
  ])
  return columns(['VERSION', 'WRITTEN', 'BY', 'SAYS', 'WHY'], rows)
}
