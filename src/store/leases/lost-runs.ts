import type { Reclaimed } from '../port.ts'
import { dialects, each, runEach, type Step } from '../statement.ts'
import { tables } from '../tables.ts'
import type { LostRuns } from '../views.ts'

/** In the order of their ids, as two who take back from the same workers must lock them. */
const findLost = dialects('lost find', {
  sqlite: 'select id, lost from belfry.worker where id = $1',
  postgres: 'select id, lost from belfry.worker where id = any ($1::bigint[]) order by id for no key update',
})
const writeLost = dialects('lost write', tables.worker.only('id', 'lost').update())

/** More of one worker are counted, and not listed. */
const runsMax = 20

/** Notes with each worker what was taken back from it, so that it can be told what became of its runs. */
export function* noteLost(
  taken: readonly (Pick<Reclaimed, 'runId' | 'status' | 'reason'> & { readonly workerId: number })[],
): Step<void> {
  const ids = [...new Set(taken.map(({ workerId }) => workerId))].sort((a, b) => a - b)
  const known = yield* each<{ id: number; lost: string | null }>(
    findLost,
    ids.map((id) => [id]),
  )
  yield* runEach(
    writeLost,
    known.map(({ id, lost }) => {
      const before = lost === null ? { count: 0, runs: [] } : (JSON.parse(lost) as LostRuns)
      const now = taken.filter(({ workerId }) => workerId === id)
      const runs = [...before.runs, ...now.map(({ runId, status, reason }) => ({ id: runId, status, reason }))]
      return [id, JSON.stringify({ count: before.count + now.length, runs: runs.slice(-runsMax) })]
    }),
  )
}
