import type { StoreContext } from '../../context.ts'
import type { Database } from '../../database.ts'
import type { HealthReads, StoreCondition } from '../../health.ts'
import { schemaVersion } from '../../migrations/all.ts'
import { both, one, type Row, type Step } from '../../statement.ts'
import { broken } from './broken.ts'
import { lanesBeyond } from './lanes.ts'
import { leases } from './leases.ts'
import { parked } from './parked.ts'
import { schedules } from './schedules.ts'

const findSchema = both('health schema', 'select max(version) as version from belfry.migration')
const findStop = both('health stop', 'select stopped_at, stopped_reason from belfry.namespace where id = $1')

export function healthReads(database: Database, context: StoreContext): HealthReads {
  const bound =
    <Args extends unknown[], Result>(verb: (context: StoreContext, ...args: Args) => Step<Result>) =>
    (...args: Args): Promise<Result> =>
      database.read(() => verb(context, ...args))
  const tables = bound(ofTables)
  return {
    condition: async () => ({ database: await database.condition(), ...(await tables()) }),
    damage: () => database.damage(),
    leases: bound(leases),
    parked: bound(parked),
    broken: bound(broken),
    lanesBeyond: bound(lanesBeyond),
    schedules: bound(schedules),
  }
}

function* ofTables({ ns }: StoreContext): Step<Omit<StoreCondition, 'database'>> {
  const found = ((yield* one(findSchema))?.version ?? 0) as number
  const { stopped_at: at, stopped_reason: reason } = (yield* one(findStop, ns)) as Row
  return {
    schema: { found, known: schemaVersion },
    stopped: at === null ? null : { at: at as number, reason: reason as string | null },
  }
}
