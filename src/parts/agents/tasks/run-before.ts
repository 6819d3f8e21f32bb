import { parseId } from '../../../core/id.ts'
import { isRecord } from '../../../core/json/record.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import { cut } from '../../../store/runs/result.ts'
import { both, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

const answerBytesMax = 8 * 1024
/** How many previous runs are searched for a completed one. */
const runsBackMax = 100

// The end is compared through coalesce, so that PostgreSQL reads only the attempts of these runs, and not all ended attempts.
const find = both(
  'tasks find run before',
  `select r.body, g.profile, g.session_id from
    (select id from belfry.run where ns = $1 and schedule_id = $2 and id < $3 order by id desc limit ${runsBackMax}) d
    join belfry.attempt a on a.run_id = d.id and coalesce(a.ends, '') = 'completed'
    left join belfry.result r on r.run_id = d.id
    left join belfry.agent_attempt g on g.run_id = d.id and g.fence = a.fence
    order by d.id desc limit 1`,
)

export interface RunBefore {
  /** The final text of the last completed run, cut to 8 KB. */
  readonly answer: string | null
  readonly profile: string | null
  readonly sessionId: string | null
}

/** The last completed run of a schedule before the given run. */
export function* runBefore({ ns }: StoreContext, scheduleId: string, runId: string): Step<RunBefore | null> {
  const schedule = parseId('schedule', scheduleId)
  const row = yield* one<{ body: string | null; profile: string | null; session_id: string | null }>(
    find,
    ns,
    schedule,
    runIdOf({ runId }),
  )
  if (row === undefined) return null
  return { answer: answerIn(row.body), profile: row.profile, sessionId: row.session_id }
}

function answerIn(body: string | null): string | null {
  const result: unknown = body === null ? null : JSON.parse(body)
  const text = isRecord(result) ? result.text : result
  return typeof text === 'string' ? cut(text, answerBytesMax) : null
}
