import { missedParagraph } from '../../../core/agent/missed-question.ts'
import type { TaskFacts } from '../../../core/agent/task.ts'
import { formatId } from '../../../core/id.ts'
import type { ScheduleSpec } from '../../../core/schedule/schedule-spec.ts'
import type { Duty } from '../../../engine/part.ts'
import { isoText } from '../../../operations/input/instant.ts'
import { shortText } from '../../../operations/schedule/plain-text.ts'
import { type Raised, raise } from '../../../store/raise.ts'
import { missedReason } from '../../../store/runs/ready-aside.ts'
import { all, both, clockNow, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { noticeFor } from '../inbox/kind.ts'
import { liveProjects } from '../inbox/message-rows.ts'
import { promptOf } from '../missed/missed-rows.ts'

const dayMs = 86_400_000
/**
 * After downtime schedules are fired in several steps. The notification waits until this long after the newest missed run, but never longer
 * than `unsettledMsMax` after the oldest one.
 */
const settledMs = 10_000
const unsettledMsMax = 120_000
const stepLimit = 200
const promptLengthMax = 500

const findMissed = both(
  'tasks find untold missed',
  `select a.run_id, a.at, d.occurrence_at, d.target, t.schedule_id, t.id, t.project from belfry.aside a
    join belfry.run d on d.id = a.run_id join belfry.task t on t.schedule_id = d.schedule_id
    where a.ns = $1 and a.kind = 'parked' and a.reason = '${missedReason}' and a.run_id > coalesce(t.missed_told, 0)
    order by a.run_id limit $2`,
)
/** If two workers find the same task, one of them marks it and notifies. */
const markMissed = both(
  'tasks mark missed told',
  'update belfry.task set missed_told = $2 where schedule_id = $1 and coalesce(missed_told, 0) < $2 returning id',
)
const findExpiring = both(
  'tasks find untold expiring',
  `select t.schedule_id, t.id, t.project, t.expires_at, s.spec from belfry.task t join belfry.schedule s on s.id = t.schedule_id
    where t.ns = $1 and t.is_open = 1 and t.expires_at > $2 and t.expires_at <= $3 and t.created_at <= t.expires_at - ${dayMs}
      and coalesce(t.expiry_told, 0) <> t.expires_at and s.deleted_at is null and s.is_done = 0
    order by t.expires_at, t.schedule_id limit $4`,
)
const markExpiring = both(
  'tasks mark expiry told',
  `update belfry.task set expiry_told = $2 where schedule_id = $1 and expires_at = $2 and coalesce(expiry_told, 0) <> $2
    returning id`,
)
const setExpiry = both('tasks keep expiry', 'update belfry.task set expires_at = $3 where ns = $1 and id = $2')

export function* keepExpiry({ ns }: StoreContext, { id, expiresAt }: TaskFacts): Step<void> {
  yield* run(setExpiry, ns, id, expiresAt ?? null)
}

interface UntoldRow {
  readonly schedule_id: number
  readonly id: string
  readonly project: string
}

interface MissedRow extends UntoldRow {
  readonly run_id: number
  readonly at: number
  readonly occurrence_at: number
  readonly target: string
}

interface ExpiringRow extends UntoldRow {
  readonly expires_at: number
  readonly spec: string
}

/** Notifies of missed prompts that wait for a decision, all at once, so that a receiver gets one question. Returns how many. */
export function* tellMissed(context: StoreContext): Step<number> {
  const now = yield* clockNow()
  const rows = yield* all<MissedRow>(findMissed, context.ns, stepLimit)
  const askedAt = rows.map(({ at }) => at)
  const isSettled = Math.max(...askedAt) <= now - settledMs || Math.min(...askedAt) <= now - unsettledMsMax
  if (rows.length === 0 || !isSettled) return 0
  const marked: MissedRow[] = []
  for (const row of rows) if ((yield* one(markMissed, row.schedule_id, row.run_id)) !== undefined) marked.push(row)
  return yield* raiseEach(context, marked, (row) => {
    const target = JSON.parse(row.target)
    const prompt = shortText(promptOf(target), promptLengthMax)
    const { profile: agent = 'a session' } = (target.agent ?? {}) as { readonly profile?: string }
    return {
      event: 'missed',
      runId: row.run_id,
      reason: `it came due while no worker ran; run or drop ${formatId('run', row.run_id)}: belfry missed list`,
      paragraph: missedParagraph(now, { id: row.id, agent, prompt, plannedAt: row.occurrence_at }),
    }
  })
}

/**
 * Notifies of recurring tasks that expire within a day. A task created for less than a day is left out: its author knows that it ends soon.
 */
export function* tellExpiring(context: StoreContext): Step<number> {
  const now = yield* clockNow()
  const rows = yield* all<ExpiringRow>(findExpiring, context.ns, now, now + dayMs, stepLimit)
  const marked: ExpiringRow[] = []
  for (const row of rows) {
    const isMarked = (yield* one(markExpiring, row.schedule_id, row.expires_at)) !== undefined
    // A one-shot ends by itself, so its expiry is not announced.
    if (isMarked && (JSON.parse(row.spec) as ScheduleSpec).timing.at === undefined) marked.push(row)
  }
  return yield* raiseEach(context, marked, (row) => ({
    event: 'expiring',
    reason: `it expires at ${isoText(row.expires_at)}; keep it: belfry task edit ${row.id} --permanent`,
    paragraph: `${row.id} expires at ${isoText(row.expires_at)}; a person keeps it with \`belfry task edit ${row.id} --permanent\`.`,
  }))
}

/** If no receiver is configured, an open session of the project is notified. */
function* raiseEach<Row extends UntoldRow>(
  context: StoreContext,
  rows: readonly Row[],
  raised: (row: Row) => Omit<Raised, 'scheduleId' | 'otherwise'>,
): Step<number> {
  if (rows.length === 0) return 0
  const live = yield* liveProjects(context)
  const all = rows.map((row) => ({
    ...raised(row),
    scheduleId: row.schedule_id,
    ...(live.has(row.project) && { otherwise: noticeFor({ project: row.project }) }),
  }))
  yield* raise(context, all)
  return rows.length
}

/** With each beat, one worker of all notifies. */
export const tellDuty: Duty = {
  name: 'tasks',
  everyMs: 0,
  async tick({ store }) {
    await store.do(tellMissed)
    await store.do(tellExpiring)
  },
}
