import { formatId, parseId } from '../../core/id.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { columnsOf } from '../columns.ts'
import type { StoreContext } from '../context.ts'
import { all, both, clockNow, one, type Row, type Step } from '../statement.ts'
import type { KnownToken, ScopeSaid, TokenView } from '../token-steps.ts'

const selectToken = both('read token', `select ${columnsOf('token')} from belfry.token where id = $1 and ns = $2`)
const findGood = both(
  'read tokens',
  `select ${columnsOf('token')} from belfry.token where ns = $1 and name > $2 and revoked_at is null order by name limit $3`,
)
const findRevoked = both(
  'read revoked tokens',
  `select ${columnsOf('token')} from belfry.token where ns = $1 and id < $2 and revoked_at is not null order by id desc limit $3`,
)
const findScopes = both(
  'read token scopes',
  'select source, tokens from belfry.config where ns = $1 and applied_at > 0 order by source',
)

const pageMax = 1_000
/** No id is greater. */
const idMax = Number.MAX_SAFE_INTEGER

interface TokenPage {
  readonly after?: string
  readonly limit?: number
  readonly revoked?: boolean
}

export function* findToken({ ns }: StoreContext, id: string): Step<KnownToken | null> {
  const number = parseId('token', id)
  const row = number === null ? undefined : yield* one(selectToken, number, ns)
  if (row === undefined) return null
  return { ...tokenViewOf(row), hash: row.hash as string, now: yield* clockNow() }
}

/** A page behind a token has only its like: whether a token is revoked between two pages, no other is passed by. */
export function* listTokens({ ns }: StoreContext, page: TokenPage = {}): Step<TokenView[]> {
  const { after, limit = pageMax, revoked = false } = page
  checkInteger(limit, 'limit', 1, pageMax)
  if (revoked) {
    const before = after === undefined ? idMax : idAfter(after)
    return (yield* all(findRevoked, ns, before, limit)).map(tokenViewOf)
  }
  const good = yield* all(findGood, ns, after === undefined ? '' : nameAfter(after), limit)
  const room = after === undefined ? limit - good.length : 0
  const others = room === 0 ? [] : yield* all(findRevoked, ns, idMax, room)
  return [...good, ...others].map(tokenViewOf)
}

function nameAfter(after: string): string {
  if (canBeName(after)) return after
  throw invalid('after', `is ${JSON.stringify(after)}`, 'the name of a token')
}

function idAfter(after: string): number {
  const id = parseId('token', after)
  if (id === null) throw invalid('after', `is ${JSON.stringify(after)}`, 'the id of a revoked token')
  return id
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
