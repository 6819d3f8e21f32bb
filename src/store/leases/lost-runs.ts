import type { Reclaimed } from '../port.ts'
import { dialects, each, runEach, type Step } from '../statement.ts'
import { tables } from '../tables.ts'
import type { LostRuns } from '../views.ts'

/** In id order, so that two processes that reclaim from the same workers do not deadlock. */
const findLost = dialects('lost find', {
  sqlite: 'select id, lost from belfry.worker where id = $1',
  postgres: 'select id, lost from belfry.worker where id = any ($1::bigint[]) order by id for no key update',
})
const writeLost = dialects('lost write', tables.worker.only('id', 'lost').update())

/** More runs of one worker are counted, but not listed. */
const runsMax = 20

/** Records with each worker which runs were reclaimed from it and what became of them. */
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
