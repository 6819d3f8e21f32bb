import { formatId, parseId } from '../../../core/id.ts'
import type { Sweeping } from '../../../store/prune/sweep.ts'
import { all, both, clockNow, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const findMessages = both(
  'inbox find messages',
  ({ numbers }) =>
    `select run_id, author, session, done_at from belfry.inbox_message where run_id ${numbers('$1')} and ns = $2`,
)
const findSessions = both(
  'inbox find sessions',
  ({ join }) => `select s.id, s.project, s.seen_at, s.live_until, l.run_id from belfry.agent_session s
    ${join.left('lease l', 'l.run_id = s.run_id and l.fence = s.fence')}
    where s.ns = $1 and s.live_until > $2 and s.id > $3 order by s.id limit $4`,
)
const findProjects = both(
  'inbox find live projects',
  'select distinct project from belfry.agent_session where ns = $1 and live_until > $2 and project is not null',
)
const sweepRows = both(
  'inbox sweep sessions',
  `delete from belfry.agent_session where (ns, id) in (
    select ns, id from belfry.agent_session where live_until < $1 order by ns, id limit $2) returning id`,
)
export interface MessageRow {
  readonly author: string | null
  /** The session that took the message. */
  readonly session: string | null
  readonly doneAt: number | null
}

/** What messages have besides their runs, by run id. */
export function* messageRows({ ns }: StoreContext, runIds: readonly string[]): Step<Map<string, MessageRow>> {
  const ids = runIds.flatMap((id) => parseId('run', id) ?? [])
  const rows = yield* all<{ run_id: number; author: string | null; session: string | null; done_at: number | null }>(
    findMessages,
    JSON.stringify(ids),
    ns,
  )
  return new Map(
    rows.map(({ run_id: id, author, session, done_at: doneAt }) => [formatId('run', id), { author, session, doneAt }]),
  )
}

export interface LiveSession {
  readonly id: string
  readonly project: string | null
  readonly seenAt: number
  readonly liveUntil: number
  /** The run of the message that the session has not acknowledged. */
  readonly holds: string | null
}

/** The live sessions, by id. */
export function* liveSessions(
  { ns }: StoreContext,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Step<LiveSession[]> {
  const rows = yield* all<{
    id: string
    project: string | null
    seen_at: number
    live_until: number
    run_id: number | null
  }>(findSessions, ns, yield* clockNow(), after, limit)
  return rows.map(({ id, project, seen_at: seenAt, live_until: liveUntil, run_id: held }) => ({
    id,
    project,
    seenAt,
    liveUntil,
    holds: held === null ? null : formatId('run', held),
  }))
}

/** The projects that have a live session. */
export function* liveProjects({ ns }: StoreContext): Step<Set<string>> {
  const rows = yield* all<{ project: string }>(findProjects, ns, yield* clockNow())
  return new Set(rows.map(({ project }) => project))
}

const sessionsKeptMs = 7 * 86_400_000

export function* sweepSessions({ now, rowsLeft }: Sweeping): Step<number> {
  return (yield* all(sweepRows, now - sessionsKeptMs, rowsLeft)).length
}
