import { canBeName, checkText, keepableText } from '../../store/check.ts'
import { all, both, clockNow, one, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'
import type { ConfiguredScope } from '../../store/tokens/token-steps.ts'
import type { ConfigSources } from './list-configs.ts'

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

const saveFault = both(
  'config save fault',
  `insert into belfry.config_fault (ns, file, says, at, seen_at) values ($1, $2, $3, $4, $4)
    on conflict (ns, file) do update set says = excluded.says, seen_at = excluded.seen_at,
      at = case when config_fault.says = excluded.says then config_fault.at else excluded.at end`,
)
const forgetFault = both('config forget fault', 'delete from belfry.config_fault where ns = $1 and file = $2')

const findScopes = both(
  'read token scopes',
  'select source, tokens from belfry.config where ns = $1 and applied_at > 0 order by source',
)

const sourcesMax = 1_000
/** A worker that watches a file records its fault twice a minute. */
const faultSeenMs = 600_000

export function* listConfigs({ ns }: StoreContext): Step<ConfigSources['sources']> {
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

export function* configFaults({ ns }: StoreContext): Step<ConfigSources['faults']> {
  const seenAfter = (yield* clockNow()) - faultSeenMs
  return (yield* all(findFaults, ns, sourcesMax, seenAfter)).map((row) => ({
    file: row.file as string,
    says: row.says as string,
    at: row.at as number,
  }))
}

export const fileLengthMax = 4_096
const saysLengthMax = 4_000

/** Records the fault of a file, and since when, for readers on other machines. A worker that watches the file records it repeatedly: a fault without a recent record belongs to a machine that is gone. */
export function* noteConfigFault({ ns }: StoreContext, file: string, says: string | null): Step<void> {
  checkText(file, 'file', fileLengthMax)
  if (says === null) yield* run(forgetFault, ns, file)
  else yield* run(saveFault, ns, file, keepableText(says.slice(0, saysLengthMax)), yield* clockNow())
}

/** The scope that a file sets for the token of this name, whether or not the token exists yet. */
export function* configuredScope({ ns }: StoreContext, name: string): Step<ConfiguredScope | null> {
  for (const { source, tokens } of yield* all<{ source: string; tokens: string }>(findScopes, ns)) {
    const scopes = new Map(Object.entries(JSON.parse(tokens) as Record<string, string>))
    const scope = scopes.get(name)
    if (scope !== undefined) return { source, scope }
  }
  return null
}
