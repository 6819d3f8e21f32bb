import { formatDuration } from '../../../core/duration.ts'
import { reasonText } from '../../../core/reason-text.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { groupOf, siblingsOf } from '../../../store/groups/group-row.ts'
import { findScheduleRow, listHints, scheduleViewOf } from '../../../store/reads/find-schedule.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, type Row, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { HintView, ScheduleView } from '../../../store/views.ts'
import { bodyOf } from '../rules-field.ts'
import { clippedBody, onlyFields } from './clip-body.ts'

/** An answer of a run, as a planner may read it. */
export interface LookedResponse {
  readonly responseBody: string
  readonly timestamp: string
  readonly status: 'success' | 'failure'
  readonly durationMs: number | null
  readonly httpStatus: number | null
  readonly error?: string | undefined
}

interface HealthWindow {
  readonly runs: number
  readonly failures: number
  /** There are more, which were not read. */
  readonly atLeast?: true
  readonly errors: Readonly<Record<string, number>>
}

/** Everything that a look knows. It is stored with the analysis, and a replay knows the same. */
export interface LookFacts {
  readonly now: string
  readonly schedule: string
  readonly version: number
  readonly epoch: number
  readonly description: string | null
  readonly group: { readonly name: string; readonly description: string | null } | null
  readonly siblings: readonly { readonly name: string; readonly description: string | null }[]
  readonly baseline: string
  readonly bounds: { readonly min: string | null; readonly max: string | null; readonly window: string | null }
  readonly zone: string | null
  readonly autonomy: string
  readonly paused: { readonly until: string | null; readonly reason: string } | null
  readonly hints: readonly object[]
  readonly failures: number
  readonly multiplier: number
  readonly nextRunAt: string | null
  readonly health: Readonly<Record<'1h' | '4h' | '24h', HealthWindow>>
  readonly lastHints: readonly object[]
  readonly lastLook: string | null
  readonly responses: readonly LookedResponse[]
  readonly siblingResponses: readonly (LookedResponse & {
    readonly endpointId: string
    readonly endpointName: string
  })[]
}

const hour = 3_600_000
const rowsMax = 5_000
const responsesMax = 50
const siblingsMax = 20
/** Found by its run, not among all ends; see `findEnd` in `retry-run.ts`. */
const findEnds = both(
  'planner find ends',
  `select a.ended_at, a.ends, a.reason from belfry.ledger l join belfry.attempt a on a.run_id = l.run_id and coalesce(a.ends, '') <> ''
    where l.schedule_id = $1 and l.from_at >= $2 order by l.from_at desc limit $3`,
)
const findResponses = both(
  'planner find responses',
  `select a.ended_at, a.started_at, a.ends, a.reason, r.body from belfry.ledger l
    join belfry.attempt a on a.run_id = l.run_id and coalesce(a.ends, '') <> '' left join belfry.result r on r.run_id = l.run_id
    where l.schedule_id = $1 and l.run_id is not null order by l.from_at desc limit $2`,
)

/** Reads what a look at a schedule needs, in one snapshot. */
export function* lookFacts(
  context: StoreContext,
  name: string,
  autonomy: string,
  lastLook: string | null,
): Step<LookFacts | null> {
  const row = yield* findScheduleRow(context, name)
  if (row === null || row.deletedAt !== null) return null
  const now = yield* clockNow()
  const { spec } = row
  const group = yield* groupOf(context, spec)
  const siblings = (yield* siblingsOf(context, spec)).slice(0, siblingsMax)
  const hints = yield* listHints(context, row.name)
  const { paused, disabled } = scheduleViewOf(row)
  const told = hints.map(hintTold)
  const siblingResponses = yield* latestOf(context, siblings)
  const { timing } = spec
  return {
    now: isoText(now),
    schedule: row.name,
    version: row.version,
    epoch: row.hintEpoch,
    description: spec.description ?? null,
    group: group === null ? null : { name: group.name, description: group.spec.description ?? null },
    siblings: siblings.map(({ spec: { name: each, description } }) => ({
      name: each,
      description: description ?? null,
    })),
    baseline: timing.cron ?? (timing.everyMs === undefined ? 'none' : `every ${formatDuration(timing.everyMs)}`),
    bounds: {
      min: lasting(spec.minMs),
      max: lasting(spec.maxMs),
      window: (spec as { readonly window?: string }).window ?? group?.spec.window ?? null,
    },
    zone: timing.cron === undefined ? null : timing.zone,
    autonomy,
    paused: pauseOf(paused, disabled),
    hints: told.filter((hint) => !('ended' in hint)),
    failures: row.failureCount,
    multiplier: timing.everyMs === undefined ? 1 : 2 ** Math.min(row.failureCount, 5),
    nextRunAt: row.nextRunAt === null ? null : isoText(row.nextRunAt),
    health: yield* healthOf(row, now),
    lastHints: told.filter((hint) => hint.by === 'planner').slice(0, 5),
    lastLook,
    responses: yield* responsesOf(row, responsesMax),
    siblingResponses,
  }
}

function hintTold({ kind, value, by, author, reason, createdAt, expiresAt, ended }: HintView) {
  return {
    ...(kind === 'interval' ? { every: formatDuration(value) } : { at: isoText(value) }),
    by,
    author,
    reason: reasonText(reason, 120),
    given: isoText(createdAt),
    expires: isoText(expiresAt),
    ...(ended !== null && { ended: ended.by }),
  }
}

function* latestOf(context: StoreContext, siblings: readonly ScheduleView[]): Step<LookFacts['siblingResponses']> {
  const found: LookFacts['siblingResponses'][number][] = []
  for (const { id, spec } of siblings) {
    const row = yield* findScheduleRow(context, spec.name)
    const [latest] = row === null ? [] : yield* responsesOf(row, 1)
    if (latest !== undefined) found.push({ endpointId: id, endpointName: spec.name, ...latest })
  }
  return found
}

function lasting(ms: number | undefined): string | null {
  return ms === undefined ? null : formatDuration(ms)
}

function pauseOf(
  paused: { readonly until: number; readonly reason: string | null } | null,
  disabled: { readonly reason: string | null } | null,
): LookFacts['paused'] {
  if (disabled !== null) return { until: null, reason: reasonText(disabled.reason ?? '') }
  return paused === null ? null : { until: isoText(paused.until), reason: reasonText(paused.reason ?? '') }
}

function* healthOf({ id }: ScheduleRow, now: number): Step<LookFacts['health']> {
  const rows = yield* all(findEnds, id, now - 24 * hour, rowsMax + 1)
  const window = (hours: number): HealthWindow => {
    const own = rows.slice(0, rowsMax).filter((row) => (row.ended_at as number) >= now - hours * hour)
    const failed = own.filter((row) => row.ends === 'failed')
    const errors: Record<string, number> = {}
    for (const row of failed) {
      const name = reasonText(String(row.reason ?? 'failed').replace(/[\d.]{4,}/g, 'n'), 60)
      if (errors[name] !== undefined || Object.keys(errors).length < 8) errors[name] = (errors[name] ?? 0) + 1
    }
    return {
      runs: own.length,
      failures: failed.length,
      ...(rows.length > rowsMax && { atLeast: true as const }),
      errors,
    }
  }
  return { '1h': window(1), '4h': window(4), '24h': window(24) }
}

function* responsesOf({ id, spec }: ScheduleRow, limit: number): Step<LookedResponse[]> {
  const rows = yield* all(findResponses, id, limit)
  const { fields } = spec.planner ?? {}
  return rows.map((row) => responseOf(row, spec, fields))
}

function responseOf(row: Row, { target }: ScheduleRow['spec'], fields: readonly string[] | undefined): LookedResponse {
  const result = parsed(row.body)
  const status = (result as { status?: unknown } | null)?.status
  const isFailed = row.ends === 'failed'
  return {
    responseBody: clippedBody(onlyFields(bodyOf(target, result), fields)),
    timestamp: isoText(row.ended_at as number),
    status: isFailed ? 'failure' : 'success',
    durationMs: row.started_at === null ? null : (row.ended_at as number) - (row.started_at as number),
    httpStatus: target?.http !== undefined && typeof status === 'number' ? status : null,
    ...(isFailed && { error: reasonText(String(row.reason ?? 'failed'), 200) }),
  }
}

/** A body that was cut when it was stored is text. */
function parsed(body: Row[string] | undefined): unknown {
  if (typeof body !== 'string') return null
  try {
    return JSON.parse(body)
  } catch {
    return body
  }
}
