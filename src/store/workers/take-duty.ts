import { parseId } from '../../core/id.ts'
import { checkInteger, checkText, invalid, nameLengthMax } from '../check.ts'
import { both, clockNow, one, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

/** One statement decides: of several workers at once exactly one finds the duty free. */
const take = both(
  'duty take',
  `insert into belfry.duty as d (ns, name, worker_id, expires_at) values ($1, $2, $3, $4)
    on conflict (ns, name) do update set worker_id = excluded.worker_id, expires_at = excluded.expires_at
      where d.worker_id = excluded.worker_id or d.expires_at <= $5
    returning worker_id`,
)

const dutyMsMax = 86_400_000

/** Takes a singleton duty if it is free, expired or this worker's own. */
export function* takeDuty(
  context: StoreContext,
  { name, workerId, forMs }: { name: string; workerId: string; forMs: number },
): Step<boolean> {
  checkText(name, 'name', nameLengthMax)
  checkInteger(forMs, 'forMs', 1, dutyMsMax)
  const id = workerIdOf(workerId, 'workerId')
  const now = yield* clockNow()
  return (yield* one(take, context.ns, name, id, now + forMs, now)) !== undefined
}

export function workerIdOf(text: string, where: string): number {
  const id = parseId('worker', text)
  if (id === null) throw invalid(where, `is ${JSON.stringify(text)}`, 'the id of a worker, such as w-17')
  return id
}
