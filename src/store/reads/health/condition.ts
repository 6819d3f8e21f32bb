import type { StoreContext } from '../../context.ts'
import type { StoreCondition } from '../../health.ts'
import { migrationsOf } from '../../migrations/all.ts'
import { both, one, type Row, type Step } from '../../statement.ts'

const findSchema = both('health schema', 'select max(version) as version from belfry.migration')
const findStop = both('health stop', 'select stopped_at, stopped_reason from belfry.namespace where id = $1')

/** What the tables tell of the condition of a store. */
export function* tableCondition({ ns, parts }: StoreContext): Step<Omit<StoreCondition, 'database'>> {
  const found = ((yield* one(findSchema))?.version ?? 0) as number
  const { stopped_at: at, stopped_reason: reason } = (yield* one(findStop, ns)) as Row
  return {
    schema: { found, known: migrationsOf(parts).length },
    stopped: at === null ? null : { at: at as number, reason: reason as string | null },
  }
}
