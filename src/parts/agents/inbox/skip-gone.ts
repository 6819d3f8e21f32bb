import type { Duty } from '../../../engine/part.ts'
import { cancelledEnding, gatesOf } from '../../../store/runs/cancel-run.ts'
import { conclude } from '../../../store/runs/conclude.ts'
import { lockGates } from '../../../store/runs/key-gate.ts'
import { takeFromLine } from '../../../store/runs/ready-aside.ts'
import { freshReadyRow, type RunOutline, runOutlines } from '../../../store/runs/run-outline.ts'
import { lockSchedules } from '../../../store/schedules/schedule-row.ts'
import { all, both, clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { inboxQueue, liveMs } from './inbox-queue.ts'

/**
 * Messages that wait for a session that is gone. If the session was never seen, or may come back, the time counts from the message: each
 * message waits as long as a session may be silent.
 */
const findAbandoned = both(
  'inbox find abandoned',
  ({ join }) => `select r.run_id from belfry.queue q
    join belfry.need n on n.ns = q.ns and n.kind = 'inbox' and n.name like 'session:%'
    ${join.inner('ready r', 'r.queue_id = q.id and r.need_id = n.id')}
    ${join.inner('run d', 'd.id = r.run_id')}
    left join belfry.agent_session s on s.ns = n.ns and s.id = substr(n.name, 9)
    where q.ns = $1 and q.name = $2 and r.enqueued_at <= $3 and coalesce(d.not_before, 0) <= $3
      and coalesce(s.live_until, 0) <= $4
      and (select 1 from belfry.lease l where l.run_id = s.run_id and l.fence = s.fence) is null order by r.run_id limit $5`,
)

/** Ends the messages for gone sessions as skipped; returns how many. */
export function* skipAbandoned(context: StoreContext, { limit }: { readonly limit: number }): Step<number> {
  const now = yield* clockNow()
  const found = yield* all<{ run_id: number }>(findAbandoned, context.ns, inboxQueue, now - liveMs, now, limit)
  const places = yield* runOutlines(
    context,
    found.map(({ run_id: id }) => id),
  )
  const ids = [...places.values()].flatMap(({ scheduleId }) => scheduleId ?? [])
  const schedules = yield* lockSchedules(ids, { wait: false })
  // A message whose schedule is locked by another step is left for the next round.
  const free = [...places.values()].filter(({ scheduleId }) => scheduleId === null || schedules.has(scheduleId))
  yield* lockGates(free.flatMap(gatesOf))
  const taken = new Set(yield* takeFromLine(free.map((place) => freshReadyRow(place, 0))))
  const endings = free.filter(({ runId }) => taken.has(runId)).map(skippedEnding)
  if (endings.length > 0) yield* conclude(context, { now, endings, schedules })
  return endings.length
}

function skippedEnding(place: RunOutline) {
  const reason = 'no-session'
  const { verdict, ...ending } = cancelledEnding({ place, reason, wasParked: false })
  return { ...ending, outcome: 'skipped', verdict: { ...verdict, status: 'skipped' } } as const
}

const stepLimit = 100
const stepsMax = 10

/** With each beat, one worker of all skips the messages of gone sessions. */
export const abandonedDuty: Duty = {
  name: 'inbox',
  everyMs: 0,
  async tick({ store }) {
    for (let step = 0; step < stepsMax; step++) {
      if ((await store.do(skipAbandoned, { limit: stepLimit })) < stepLimit) return
    }
  },
}
