import { isRecord } from '../../../core/json/record.ts'
import { type Scope, scopes } from '../../../operations/caller-scope.ts'
import type { ConfigSection } from '../../../operations/config-section.ts'
import { name as tokenName } from '../../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { refuseManaged } from '../../../store/managed.ts'
import { all, both, clockNow, one, run } from '../../../store/statement.ts'
import { configuredScope } from '../../../store/tokens/find-token.ts'

const findKept = both(
  'config find tokens',
  'select name from belfry.token where ns = $1 and managed_by = $2 and revoked_at is null order by name',
)
const findToken = both(
  'config find token',
  'select scope, managed_by from belfry.token where ns = $1 and name = $2 and revoked_at is null',
)
const manage = both(
  'config manage token',
  'update belfry.token set managed_by = $3, scope = $4 where ns = $1 and name = $2 and revoked_at is null',
)
const saveScopes = both('config save scopes', 'update belfry.config set tokens = $3 where ns = $1 and source = $2')

export interface TokenEntry {
  readonly name: string
  readonly scope: string
}

export interface TokenApplied extends TokenEntry {
  /** `absent`: the token does not exist yet; it will be created with this scope. */
  readonly answer: 'set' | 'unchanged' | 'absent' | 'left'
  readonly was: string | null
}

/** A file creates no tokens, because it would have to contain their secrets; it sets their scopes. */
export const tokens: ConfigSection<TokenEntry, TokenApplied> = {
  name: 'tokens',
  says: 'Scopes of tokens by name: read, operate or admin.',
  names: tokenName,
  /** `ci: operate`, or `ci: { scope: operate }`. */
  reader: async () => (name, given, problems) => {
    const known = scopes.find((word) => word === scopeIn(given))
    const others = isRecord(given) ? Object.keys(given).filter((key) => key !== 'scope') : []
    if (known === undefined || others.length > 0) {
      const problem = others.length > 0 ? `has ${others.join(', ')} beside its scope` : 'has no scope'
      problems.push({ field: '', problem, expected: `one of ${scopes.join(', ')}` })
    }
    return { name, scope: known ?? 'read' }
  },
  starts: (given, where) =>
    scopeIn(given) === ('admin' satisfies Scope)
      ? [{ where, what: 'has the scope admin', with: {}, starts: { token: where.slice(where.indexOf('.') + 1) } }]
      : [],
  *kept({ ns }, source) {
    return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
  },
  *apply({ context, source, actor }, { name, scope }) {
    const found = yield* one<{ scope: string; managed_by: string | null }>(findToken, context.ns, name)
    // Recorded even for a token that does not exist yet: only one file may set its scope.
    const said = yield* configuredScope(context, name)
    refuseManaged({ noun: 'token', name, managedBy: found?.managed_by ?? said?.source ?? null }, source)
    if (found === undefined) return { name, answer: 'absent', scope, was: null }
    const was = found.scope
    yield* run(manage, context.ns, name, source, scope)
    if (was === scope) return { name, answer: 'unchanged', scope, was }
    const change = { actor, verb: 'token.update', subject: `token ${name}`, detail: { scope, was, source } }
    yield* writeAudit(context, change, yield* clockNow())
    return { name, answer: 'set', scope, was }
  },
  *leave({ context }, name) {
    const found = yield* one<{ scope: string }>(findToken, context.ns, name)
    if (found === undefined) return null
    const { scope } = found
    yield* run(manage, context.ns, name, null, scope)
    return { name, answer: 'left', scope, was: scope }
  },
  *remember({ context, source }, entries) {
    const said = Object.fromEntries(entries.map(({ name, scope }) => [name, scope]))
    yield* run(saveScopes, context.ns, source, JSON.stringify(said))
  },
  written: ({ name, answer, scope, was }) => ({
    name,
    answer,
    changes: fieldChanges(was === null ? {} : { scope: was }, { scope }),
  }),
  notes: (applied) =>
    applied
      .filter(({ answer }) => answer === 'absent')
      .map(({ name }) => `Token ${name} does not exist yet: belfry token create ${name}`),
}

function scopeIn(given: unknown): unknown {
  return isRecord(given) ? given.scope : given
}
