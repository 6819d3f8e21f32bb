import { formatDuration } from '../../core/duration.ts'
import { needOf } from '../../core/target.ts'
import { unblockBrief } from '../explain/unblock.ts'
import { Fact, omit, pick } from '../schema/brief.ts'
import type { Schedule } from './schedule-answer.ts'
import type { ScheduleExplained } from './schedule-explained.ts'
import type { ScheduleWritten } from './schedule-writes.ts'
import type { UpcomingRun } from './upcoming.ts'

const nextShown = 3
const lastShown = 3

export function scheduleBrief(value: Schedule, isListed: boolean): object {
  const { everyMs, failureCount, noopCount, finished, queue, target } = value
  const shown = {
    ...(everyMs !== undefined && { every: new Fact(formatDuration(everyMs)) }),
    ...(failureCount > 0 && { failureCount }),
    ...(noopCount > 0 && { noopCount }),
    ...(finished !== null && { finished }),
    ...(queue !== 'default' && { queue }),
  }
  if (isListed) {
    const answer = needOf(target)
    const kind = 'need' in answer ? answer.need?.kind : undefined
    return {
      ...pick(value, 'name', 'cron', 'zone', 'at'),
      ...shown,
      ...(kind !== undefined && { target: new Fact(kind) }),
      ...pick(value, 'nextDueAt', 'waitsFor', 'paused', 'disabled'),
    }
  }
  const noise = ['nextDecision', 'anchorAt', 'timedAt', 'wakeAt', 'lastPlannedAt', 'nextRunAt', 'runsCount'] as const
  return {
    ...omit(value, ...noise, 'everyMs', 'failureCount', 'noopCount', 'finished', 'queue', 'createdAt', 'updatedAt'),
    ...shown,
  }
}

export function scheduleExplainedBrief(value: ScheduleExplained): object {
  const { hints, last, waitsFor, unblock } = value
  return {
    ...pick(value, 'schedule', 'code', 'sentence', 'next', 'backoff', 'live', 'parts', 'notes'),
    unblock: unblockBrief(unblock),
    ...(waitsFor !== null && { waitsFor: { ...waitsFor, unblock: unblockBrief(waitsFor.unblock) } }),
    hints: hints.filter(({ counts }) => counts),
    last: last.slice(0, lastShown).map((row) => pick(row, 'from', 'count', 'outcome', 'runId')),
  }
}

export function scheduleWrittenBrief(value: ScheduleWritten): object {
  return { ...omit(value, 'schedule', 'was'), next: value.next.slice(0, nextShown) }
}

export function upcomingBrief({ source: _, isEstimate, dueAt, ...next }: UpcomingRun): object {
  return { ...next, ...(dueAt !== next.at && { dueAt }), ...(isEstimate && { isEstimate }) }
}
