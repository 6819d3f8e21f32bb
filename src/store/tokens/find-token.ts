import { formatId, parseId } from '../../core/id.ts'
import { canBeName, checkInteger, invalid } from '../check.ts'
import { all, both, clockNow, one, type Row, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf, tables } from '../tables.ts'
import type { ConfiguredScope, KnownToken, TokenView } from './token-steps.ts'

const selectToken = both('read token', `select ${columnsOf('token')} from belfry.token where id = $1 and ns = $2`)
const findGood = both(
  'read tokens',
  `select ${columnsOf('token')} from belfry.token where ns = $1 and name > $2 and revoked_at is null order by name limit $3`,
)
const findRevoked = both(
  'read revoked tokens',
  `select ${columnsOf('token')} from belfry.token where ns = $1 and id < $2 and revoked_at is not null order by id desc limit $3`,
)
const pageMax = 1_000
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

/** A page after a token has only tokens of its kind, so that a token revoked between two pages hides no other. */
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

/** The scope that a part sets for the token of this name, whether or not the token exists yet. */
export function* configuredScope(context: StoreContext, name: string): Step<ConfiguredScope | null> {
  for (const part of context.parts) {
    const said = part.configuredScope === undefined ? null : yield* part.configuredScope(context, name)
    if (said !== null) return said
  }
  return null
}

const shown = tables.token.only('name', 'scope', 'for', 'createdAt', 'createdBy', 'expiresAt', 'revokedAt', 'usedAt')

export function tokenViewOf(row: Row): TokenView {
  const managed = row.managed_by !== null && { managedBy: row.managed_by as string }
  return { id: formatId('token', row.id as number), ...shown.read(row), ...managed }
}
