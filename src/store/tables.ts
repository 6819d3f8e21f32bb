import type { AgentState } from '../core/agent/agent-state.ts'
import type { CallerKind } from '../core/caller.ts'
import type { HoldFiring, HoldScope } from '../core/hold.ts'
import type { NamedCalendar } from '../core/opening/closings.ts'
import type { OpeningHours } from '../core/opening/opening.ts'
import type { Capabilities } from '../core/queue/plan-leases.ts'
import type { EndedStatus } from '../core/run/run-state.ts'
import type { Decision, NextDecision } from '../core/schedule/decision.ts'
import type { Hints } from '../core/schedule/governor.ts'
import type { AuthorKind } from '../core/schedule/hint-author.ts'
import type { EndedHint, HintKind } from '../core/schedule/hints.ts'
import type { ScheduleSpec } from '../core/schedule/schedule-spec.ts'
import type { Steering } from '../core/schedule/steering.ts'
import type { RunSource } from './port.ts'
import type { AsideKind } from './runs/ready-aside.ts'
import { all, big, flag, int, json, named, nullable, shownJson, Table, text, word } from './table-codec.ts'
import type { LostRuns } from './views.ts'

const counts = all(int, 'fence', 'attempts', 'releases', 'deaths')
const key = named('concurrency_key', nullable(text))

/**
 * The columns of the tables in this version. A statement names its columns: a newer version may add one while workers of this
 * version run, and PostgreSQL refuses a prepared statement whose result has changed.
 */
export const tables = {
  aside: new Table('aside', {
    ...all(big, 'runId', 'ns', 'queueId', 'needId', 'enqueuedAt', 'at'),
    priority: int,
    key,
    ...counts,
    kind: word<AsideKind>(),
    reason: nullable(text),
  }),
  attempt: new Table('attempt', {
    ...all(big, 'runId', 'ns', 'queueId', 'endedAt'),
    fence: int,
    ...all(nullable(big), 'workerId', 'startedAt'),
    outcome: text,
    reason: nullable(text),
    ends: word<EndedStatus | null>(),
  }),
  audit: new Table('audit', {
    ...all(big, 'id', 'ns', 'at'),
    ...all(text, 'actor', 'door', 'verb', 'subject'),
    caller: word<CallerKind | null>(),
    detail: nullable(json()),
  }),
  calendar: new Table('calendar', {
    ...all(big, 'ns', 'createdAt', 'updatedAt'),
    name: text,
    version: int,
    hours: json<OpeningHours>(),
    managedBy: nullable(text),
    deletedAt: nullable(big),
  }),
  calendar_use: new Table('calendar_use', {
    ...all(big, 'ns', 'writtenUntil'),
    scope: word<'calendar' | 'queue' | 'namespace'>(),
    ...all(text, 'subject', 'calendar'),
  }),
  calendar_version: new Table('calendar_version', {
    ...all(big, 'ns', 'at'),
    ...all(text, 'name', 'actor', 'door'),
    version: int,
    hours: shownJson<OpeningHours>(),
    reason: nullable(text),
  }),
  hint: new Table('hint', {
    ...all(big, 'id', 'ns', 'scheduleId', 'value', 'expiresAt', 'createdAt'),
    kind: word<HintKind>(),
    ...all(text, 'reason', 'author'),
    by: named('author_kind', word<AuthorKind>()),
    ...all(nullable(big), 'endedAt', 'wasNextAt', 'nextAt'),
    endedBy: word<EndedHint['by'] | null>(),
  }),
  hold: new Table('hold', {
    ...all(big, 'id', 'ns', 'createdAt'),
    scope: word<HoldScope>(),
    subject: text,
    from: named('from_at', big),
    until: named('until_at', big),
    begunAt: nullable(big),
    reason: text,
    note: nullable(text),
    firing: word<HoldFiring>(),
    by: named('author', text),
    isEverywhere: flag,
  }),
  lease: new Table('lease', {
    ...all(big, 'runId', 'ns', 'queueId', 'workerId', 'leasedAt', 'expiresAt'),
    ...all(nullable(big), 'scheduleId', 'cancelRequestedAt', 'releaseRequestedAt'),
    claimId: text,
    key,
    ...all(nullable(text), 'dedupeKey', 'cancelReason', 'releaseReason'),
    state: nullable(word<AgentState>()),
    ...counts,
  }),
  ledger: new Table('ledger', {
    ...all(big, 'ns', 'scheduleId'),
    from: named('from_at', big),
    to: named('to_at', big),
    count: big,
    countIsAtLeast: named('at_least', flag),
    outcome: text,
    ...all(nullable(big), 'runId', 'causedBy'),
    decision: nullable(shownJson<NextDecision>()),
    recordedAt: big,
    endedAt: nullable(big),
  }),
  queue: new Table('queue', {
    ...all(big, 'id', 'ns', 'createdAt'),
    ...all(text, 'name', 'policy'),
    policyVersion: int,
    deletedAt: nullable(big),
    managedBy: nullable(text),
  }),
  ready: new Table('ready', {
    ...all(big, 'queueId', 'needId', 'enqueuedAt', 'runId', 'ns'),
    priority: int,
    key,
    ...counts,
  }),
  run: new Table('run', {
    ...all(big, 'id', 'ns', 'queueId', 'needId', 'enqueuedAt'),
    ...all(nullable(big), 'scheduleId', 'occurrenceAt', 'dueAt', 'notBefore', 'deadline', 'lateAfter'),
    ...all(nullable(big), 'waitsFor', 'retryOf'),
    ...all(int, 'priority', 'policyVersion'),
    source: word<RunSource>(),
    ...all(nullable(text), 'concurrencyKey', 'idempotencyKey', 'dedupeKey'),
    repeatable: flag,
    onExhausted: word<'park' | 'fail' | null>(),
    // JSON texts, parsed only to execute or show the run.
    ...all(nullable(text), 'target', 'payload', 'options'),
    decision: nullable(json<Decision>()),
  }),
  schedule: new Table('schedule', {
    ...all(big, 'id', 'ns', 'queueId', 'anchorAt', 'gridAnchorAt', 'runsCount', 'timedAt', 'createdAt', 'updatedAt'),
    name: text,
    spec: json<ScheduleSpec>(),
    ...all(int, 'version', 'failureCount', 'noopCount', 'hintEpoch'),
    calendars: nullable(json<NamedCalendar[]>()),
    window: named('open_window', nullable(json<OpeningHours>())),
    steering: nullable(json<Steering>()),
    ...all(
      nullable(big),
      'disabledAt',
      'pausedUntil',
      'heldBy',
      'stoppedBy',
      'lastPlannedAt',
      'lastEndAt',
      'lastSuccessAt',
      'deletedAt',
    ),
    ...all(nullable(text), 'disabledReason', 'pausedReason', 'finished', 'managedBy'),
    hints: json<Hints>(),
    ...all(nullable(big), 'nextRunAt', 'nextDueAt', 'waitsFor', 'wakeAt'),
    nextDecision: nullable(json<NextDecision>()),
    isDone: flag,
  }),
  schedule_run: new Table('schedule_run', all(big, 'ns', 'scheduleId', 'runId')),
  schedule_version: new Table('schedule_version', {
    ...all(big, 'ns', 'scheduleId', 'at'),
    version: int,
    spec: shownJson<ScheduleSpec>(),
    actor: text,
    ...all(nullable(text), 'reason', 'door', 'caller'),
  }),
  stop_span: new Table('stop_span', {
    ...all(big, 'id', 'ns'),
    scope: word<HoldScope>(),
    subject: text,
    from: named('from_at', big),
    until: named('until_at', big),
  }),
  token: new Table('token', {
    ...all(big, 'id', 'ns', 'createdAt'),
    ...all(text, 'name', 'hash', 'scope', 'createdBy'),
    for: named('caller', word<CallerKind>()),
    ...all(nullable(big), 'expiresAt', 'revokedAt', 'usedAt'),
    managedBy: nullable(text),
  }),
  worker: new Table('worker', {
    ...all(big, 'id', 'ns', 'startedAt', 'beatAt', 'beatMs'),
    ...all(text, 'name', 'host'),
    ...all(nullable(int), 'pid', 'slots'),
    ...all(nullable(text), 'pidStartedAt', 'bootId', 'pidNamespace'),
    can: json<Capabilities>(),
    ...all(nullable(big), 'stoppedAt', 'diedAt'),
    halted: nullable(text),
    isHost: flag,
    lost: nullable(json<LostRuns>()),
  }),
}

export type TableName = keyof typeof tables

/** All columns of a table by name, for a statement that reads whole rows; `alias` is the table's alias. */
export function columnsOf(table: TableName, alias?: string): string {
  return tables[table].columns(alias)
}
