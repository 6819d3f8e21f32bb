import type { ConfigFault, ConfigView } from '../change.ts'
import { canBeName } from '../check.ts'
import type { StoreContext } from '../context.ts'
import { all, both, clockNow, one, type Step } from '../statement.ts'

const findConfigs = both(
  'read configs',
  `select source, hash, file, applied_at, actor, door from belfry.config where ns = $1 and applied_at > 0
    order by source limit $2`,
)
const findContent = both(
  'read config content',
  'select applied_at from belfry.config_content where ns = $1 and source = $2 and hash = $3',
)
const findFaults = both(
  'read config faults',
  'select file, says, at from belfry.config_fault where ns = $1 and seen_at > $3 order by file limit $2',
)

const sourcesMax = 1_000
/** Whoever watches a file looks twice a minute. */
const faultSeenMs = 600_000

export function* listConfigs({ ns }: StoreContext): Step<ConfigView[]> {
  return (yield* all(findConfigs, ns, sourcesMax)).map((row) => ({
    source: row.source as string,
    hash: row.hash as string,
    file: row.file as string,
    appliedAt: row.applied_at as number,
    actor: row.actor as string,
    door: row.door as string,
  }))
}

export function* configApplied({ ns }: StoreContext, source: string, hash: string): Step<number | null> {
  if (!canBeName(source)) return null
  return (yield* one<{ applied_at: number }>(findContent, ns, source, hash))?.applied_at ?? null
}

export function* configFaults({ ns }: StoreContext): Step<ConfigFault[]> {
  const seenAfter = (yield* clockNow()) - faultSeenMs
  return (yield* all(findFaults, ns, sourcesMax, seenAfter)).map((row) => ({
    file: row.file as string,
    says: row.says as string,
    at: row.at as number,
  }))
}
