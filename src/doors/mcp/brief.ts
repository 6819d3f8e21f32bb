import { formatDuration } from '../../core/duration.ts'
import { targetKinds } from '../../core/target.ts'
import { isoText } from '../../operations/instant.ts'
import type { RunExplained } from '../../operations/run/explain-output.ts'
import type { Run, RunLine } from '../../operations/run/view.ts'
import type { ScheduleExplained } from '../../operations/schedule/explain-output.ts'
import type { UpcomingRun } from '../../operations/schedule/upcoming.ts'
import type { Schedule } from '../../operations/schedule/view.ts'
import type { ScheduleWritten } from '../../operations/schedule/write.ts'
import type { Diagnosis } from '../../operations/store/output.ts'

/** What a short form says in its own words, out of what Belfry itself knows. */
export class Fact {
  readonly value: unknown

  constructor(value: unknown) {
    this.value = value
  }
}

type Brief = (value: never, isListed: boolean) => unknown

/** The short form of an answer, by the name of its tool or of a part of it; the whole where there is none. */
export function briefOf(name: string, value: unknown, isListed: boolean): unknown {
  const brief = Object.hasOwn(briefs, name) ? briefs[name] : undefined
  return brief === undefined || value === null || value === undefined ? value : brief(value as never, isListed)
}

function pick<Value extends object>(value: Value, ...fields: (keyof Value)[]): Partial<Value> {
  return Object.fromEntries(fields.map((field) => [field, value[field]])) as Partial<Value>
}

function omit<Value extends object>(value: Value, ...fields: (keyof Value)[]): Partial<Value> {
  const left = Object.entries(value).filter(([field]) => !(fields as string[]).includes(field))
  return Object.fromEntries(left) as Partial<Value>
}

const nextShown = 3
const lastShown = 3
const findingsShown = 5

function schedule(value: Schedule, isListed: boolean): object {
  const { everyMs, failureCount, queue, target } = value
  const shown = {
    ...(everyMs !== undefined && { every: new Fact(formatDuration(everyMs)) }),
    ...(failureCount > 0 && { failureCount }),
    ...(queue !== 'default' && { queue }),
  }
  if (isListed) {
    const kind = targetKinds.find((each) => target?.[each] !== undefined)
    return {
      ...pick(value, 'name', 'cron', 'zone', 'at'),
      ...shown,
      ...(kind !== undefined && { target: new Fact(kind) }),
      ...pick(value, 'nextDueAt', 'waitsFor', 'paused', 'disabled'),
    }
  }
  const noise = ['nextDecision', 'anchorAt', 'timedAt', 'wakeAt', 'lastPlannedAt', 'nextRunAt', 'runsCount'] as const
  return { ...omit(value, ...noise, 'everyMs', 'failureCount', 'queue', 'createdAt', 'updatedAt'), ...shown }
}

function runLine(value: RunLine): object {
  const { attempts, queue, lease, end } = value
  return {
    ...pick(value, 'id', 'status', 'schedule'),
    ...(queue !== 'default' && { queue }),
    ...(attempts > 0 && { attempts }),
    ...pick(value, 'enqueuedAt', 'notBefore', 'waiting', 'waitsFor', 'retryOf', 'parked'),
    ...(lease !== null && { lease: pick(lease, 'workerId', 'leasedAt', 'cancelRequestedAt', 'cancelReason') }),
    ...(end !== null && { end: pick(end, 'at', 'reason') }),
  }
}

function run(value: Run): object {
  const noise = ['decision', 'scheduleId', 'releases', 'deaths', 'policyVersion', 'lateAfter', 'repeatable'] as const
  return omit(value, ...noise, 'traceparent', 'priority', 'idempotencyKey', 'dedupeKey')
}

function scheduleExplained(value: ScheduleExplained): object {
  const { hints, last, waitsFor, unblock } = value
  return {
    ...pick(value, 'schedule', 'code', 'sentence', 'next', 'backoff', 'live', 'notes'),
    unblock: unblocking(unblock),
    ...(waitsFor !== null && { waitsFor: { ...waitsFor, unblock: unblocking(waitsFor.unblock) } }),
    hints: hints.filter(({ counts }) => counts),
    last: last.slice(0, lastShown).map((row) => pick(row, 'from', 'count', 'outcome', 'runId')),
  }
}

function runExplained(value: RunExplained): object {
  const { attempts, planned, unblock } = value
  const shown = attempts.slice(-lastShown)
  return {
    ...pick(value, 'run', 'status', 'code', 'sentence', 'waiting', 'budget', 'next', 'notes'),
    unblock: unblocking(unblock),
    planned: pick(planned, 'source', 'sentence'),
    attempts: shown.map((attempt) => pick(attempt, 'fence', 'outcome', 'reason', 'verdict', 'nextAt')),
  }
}

/** Each way on as one sentence: a model follows one text better than three marks. */
function unblocking(ways: ScheduleExplained['unblock']): string[] {
  return ways.map(({ what, command, at }) => {
    const when = at === null ? '' : ` (${isoText(at)})`
    return `${what}${when}${command === null ? '' : ` (${command})`}`
  })
}

function written(value: ScheduleWritten): object {
  return { ...omit(value, 'schedule', 'was'), next: value.next.slice(0, nextShown) }
}

function diagnosis({ ok, checks }: Diagnosis): object {
  const found = checks.filter(({ state }) => state !== 'ok')
  return {
    ok,
    checks: found.map(({ check, state, says, findings, more }) => {
      const left = more + Math.max(0, findings.length - findingsShown)
      const shown = findings.slice(0, findingsShown).map(({ subject, state: how, says: what, next, fixed }) => {
        return [`${how}: ${subject}:`, what, fixed ?? next].filter((part) => part !== null).join(' ')
      })
      return { check, state, findings: shown.length === 0 ? [says] : shown, ...(left > 0 && { more: left }) }
    }),
  }
}

function upcoming({ source: _, isEstimate, dueAt, ...next }: UpcomingRun): object {
  return { ...next, ...(dueAt !== next.at && { dueAt }), ...(isEstimate && { isEstimate }) }
}

const briefs: Readonly<Record<string, Brief>> = {
  Schedule: schedule,
  RunLine: runLine,
  Run: run,
  ScheduleExplained: scheduleExplained,
  RunExplained: runExplained,
  Diagnosis: diagnosis,
  UpcomingRun: upcoming,
  Policy: (policy: object) =>
    pick(policy as Record<string, unknown>, 'maxConcurrent', 'maxConcurrentPerKey', 'maxAttempts', 'rateLimit'),
  Queue: (queue: object) => pick(queue as Record<string, unknown>, 'name', 'inFlight', 'paused', 'policy', 'managedBy'),
  Worker: (worker: object) => omit(worker as Record<string, unknown>, 'process', 'beatMs'),
  schedule_create: written,
  schedule_put: written,
  schedule_update: written,
  schedule_revert: written,
}
