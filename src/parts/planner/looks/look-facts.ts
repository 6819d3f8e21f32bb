import type { CallerKind } from '../../../core/caller.ts'
import { formatDuration } from '../../../core/duration.ts'
import { isInForce } from '../../../core/hold.ts'
import { defaultQueue } from '../../../core/queue/policy.ts'
import { reasonText } from '../../../core/reason-text.ts'
import type { AuthorKind } from '../../../core/schedule/hint-author.ts'
import { pausesOf } from '../../../core/schedule/steering.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { tokensLeftOf } from '../../../store/bound-work.ts'
import { groupOf, siblingsOf } from '../../../store/groups/group-row.ts'
import { holdsOn } from '../../../store/holds/list-holds.ts'
import { findScheduleRow, listHints, scheduleViewOf } from '../../../store/reads/find-schedule.ts'
import { hintsWithOutcomes } from '../../../store/reads/hint-outcomes.ts'
import type { ScheduleRow } from '../../../store/schedules/schedule-row.ts'
import { clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import type { HintView } from '../../../store/views.ts'
import { findPlanner, plannerBudget } from '../planner-row.ts'
import { descriptionAuthor } from './description-author.ts'
import { type Health, healthOf } from './look-health.ts'
import {
  type LookedResponse,
  latestOf,
  responsesOf,
  type Shown,
  type SiblingResponse,
  shownOf,
} from './look-responses.ts'

/** Everything that a look knows. The facts are stored with the analysis, so that a replay knows the same. */
export interface LookFacts {
  readonly now: string
  readonly schedule: string
  readonly version: number
  readonly epoch: number
  readonly description: string | null
  /** Who wrote the description last. Absent in looks of older versions. */
  readonly descriptionBy?: CallerKind | null
  readonly group: { readonly name: string; readonly description: string | null } | null
  readonly siblings: readonly { readonly name: string; readonly description: string | null }[]
  readonly baseline: string
  readonly bounds: { readonly min: string | null; readonly max: string | null; readonly window: string | null }
  readonly zone: string | null
  readonly autonomy: string
  readonly paused: { readonly until: string | null; readonly by?: AuthorKind; readonly reason: string } | null
  /** What keeps its runs from starting, such as a pause of its group. Absent in looks of older versions. */
  readonly holds?: readonly { readonly reason: string; readonly until: string | null; readonly note: string | null }[]
  /** The tokens that are left in this month; null where the planner has no budget. */
  readonly tokensLeft?: number | null
  readonly hints: readonly object[]
  readonly failures: number
  readonly multiplier: number
  readonly nextRunAt: string | null
  readonly health: Health
  readonly lastHints: readonly object[]
  readonly lastLook: string | null
  readonly responses: readonly LookedResponse[]
  readonly siblingResponses: readonly SiblingResponse[]
}

const responsesMax = 50
const siblingsMax = 20
const lastHintsMax = 5

/** Reads the facts for a look at a schedule, in one snapshot. */
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
  const { timing } = spec
  const group = yield* groupOf(context, spec)
  const siblings = (yield* siblingsOf(context, spec)).slice(0, siblingsMax)
  const preset = (yield* findPlanner(context))?.spec.fields
  const told = (hint: HintView) => hintTold(hint, shownOf(row, preset))
  const hints = (yield* listHints(context, row.name)).filter(({ ended }) => ended === null)
  const before = yield* hintsWithOutcomes(context, row.name, { limit: lastHintsMax, by: 'planner' })
  return {
    now: isoText(now),
    schedule: row.name,
    version: row.version,
    epoch: row.hintEpoch,
    description: spec.description ?? null,
    descriptionBy: spec.description === undefined ? null : yield* descriptionAuthor(row),
    group: group === null ? null : { name: group.name, description: group.spec.description ?? null },
    siblings: siblings.map(({ spec: { name: each, description = null } }) => ({ name: each, description })),
    baseline: timing.cron ?? (timing.everyMs === undefined ? 'none' : `every ${formatDuration(timing.everyMs)}`),
    bounds: {
      min: lasting(spec.minMs),
      max: lasting(spec.maxMs),
      window: spec.window ?? group?.spec.window ?? null,
    },
    zone: (timing.cron === undefined ? spec.zone : timing.zone) ?? null,
    autonomy,
    paused: pauseOf(row, shownOf(row, preset)),
    holds: yield* heldBy(context, row, now),
    hints: hints.map(told),
    failures: row.failureCount,
    multiplier: timing.everyMs === undefined ? 1 : 2 ** Math.min(row.failureCount, 5),
    nextRunAt: row.nextRunAt === null ? null : isoText(row.nextRunAt),
    health: yield* healthOf(row, now),
    lastHints: before.map((hint) => ({ ...told(hint), outcome: hint.outcome })),
    lastLook,
    tokensLeft: yield* tokensLeftOf(context, plannerBudget),
    responses: yield* responsesOf(row, responsesMax, preset),
    siblingResponses: yield* latestOf(context, siblings, preset),
  }
}

/** The reason of a rule repeats values of the answer. Where only some of its fields are sent, the name of the rule says enough. */
function reasonFor(by: AuthorKind, { author, reason }: { author: string; reason: string }, fields: Shown): string {
  return by === 'rule' && fields !== undefined ? `rule ${author}` : reasonText(reason, 120)
}

function hintTold({ kind, value, by, author, reason, createdAt, expiresAt, ended }: HintView, fields: Shown) {
  return {
    ...(kind === 'interval' ? { every: formatDuration(value) } : { at: isoText(value) }),
    by,
    author,
    reason: reasonFor(by, { author, reason }, fields),
    given: isoText(createdAt),
    expires: isoText(expiresAt),
    ...(ended !== null && { ended: ended.by }),
  }
}

function lasting(ms: number | undefined): string | null {
  return ms === undefined ? null : formatDuration(ms)
}

function pauseOf(row: ScheduleRow, fields: Shown): LookFacts['paused'] {
  const { paused, disabled } = scheduleViewOf(row)
  if (disabled !== null) return { until: null, reason: reasonText(disabled.reason ?? '') }
  const [latest] = pausesOf(row)
  if (paused === null || latest === undefined) return null
  return { until: isoText(paused.until), by: latest.by, reason: reasonFor(latest.by, latest, fields) }
}

function* heldBy(
  context: StoreContext,
  { name, spec }: ScheduleRow,
  now: number,
): Step<NonNullable<LookFacts['holds']>> {
  const holds = yield* holdsOn(context, { queue: spec.queue ?? defaultQueue, schedule: name })
  return holds
    .filter((hold) => isInForce(hold, now))
    .map(({ reason, until, note }) => ({
      reason,
      until: until === null ? null : isoText(until),
      note: note === null ? null : reasonText(note, 120),
    }))
}
