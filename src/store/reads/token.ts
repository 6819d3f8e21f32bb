import { formatId, parseId } from '../../core/id.ts'
import type { StoreContext } from '../context.ts'
import { all, both, clockNow, one, type Row, type Step } from '../statement.ts'
import type { KnownToken, ScopeSaid, TokenView } from '../token-steps.ts'

const findToken = both('read token', 'select * from belfry.token where id = $1 and ns = $2')
const findTokens = both(
  'read tokens',
  `select * from belfry.token where ns = $1
    order by case when revoked_at is null then 0 else 1 end, case when revoked_at is null then name end, id desc limit $2`,
)

const findScopes = both(
  'read token scopes',
  'select source, tokens from belfry.config where ns = $1 and applied_at > 0 order by source',
)

const tokensMax = 1_000

export function* token({ ns }: StoreContext, id: string): Step<KnownToken | null> {
  const number = parseId('token', id)
  const row = number === null ? undefined : yield* one(findToken, number, ns)
  if (row === undefined) return null
  return { ...tokenViewOf(row), hash: row.hash as string, now: yield* clockNow() }
}

export function* tokens({ ns }: StoreContext): Step<TokenView[]> {
  return (yield* all(findTokens, ns, tokensMax)).map(tokenViewOf)
}

/** What a file says of the token of this name, whether or not somebody has made it. */
export function* scopeSaid({ ns }: StoreContext, name: string): Step<ScopeSaid | null> {
  for (const { source, tokens } of yield* all<{ source: string; tokens: string }>(findScopes, ns)) {
    const scopes = new Map(Object.entries(JSON.parse(tokens) as Record<string, string>))
    const scope = scopes.get(name)
    if (scope !== undefined) return { source, scope }
  }
  return null
}

export function tokenViewOf(row: Row): TokenView {
  return {
    id: formatId('token', row.id as number),
    name: row.name as string,
    scope: row.scope as string,
    createdAt: row.created_at as number,
    createdBy: row.created_by as string,
    expiresAt: row.expires_at as number | null,
    revokedAt: row.revoked_at as number | null,
    usedAt: row.used_at as number | null,
    ...(row.managed_by !== null && { managedBy: row.managed_by as string }),
  }
}
