import type { StoreCondition } from '../../health-views.ts'
import { newestKnown } from '../../migrations/kernel-migrations.ts'
import { both, one, type Step } from '../../statement.ts'
import type { StoreContext } from '../../store-context.ts'

const findSchema = both('health schema', 'select max(version) as version from belfry.migration')

export function* tableCondition({ parts }: StoreContext): Step<Omit<StoreCondition, 'database'>> {
  const found = ((yield* one(findSchema))?.version ?? 0) as number
  return { schema: { found, known: newestKnown(parts) } }
}
