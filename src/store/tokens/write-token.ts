import { callerKinds } from '../../core/caller.ts'
import { BelfryError } from '../../core/error.ts'
import { formatId, parseId } from '../../core/id.ts'
import { writeAudit } from '../audit/write-audit.ts'
import { checkActor, checkChoice, checkInstant, checkText, keyLengthMax, nameLengthMax } from '../check.ts'
import { lockManaged } from '../managed.ts'
import type { Actor } from '../port.ts'
import { both, clockNow, freshIds, one, type Row, run, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'
import { columnsOf } from '../tables.ts'
import { configuredScope, tokenViewOf } from './find-token.ts'
import type { ConfiguredScope, NewToken, TokenAnswer } from './token-steps.ts'

const insertToken = both(
  'token insert',
  `insert into belfry.token (id, ns, name, hash, scope, caller, created_at, created_by, expires_at, managed_by)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict (ns, name) where revoked_at is null do nothing returning ${columnsOf('token')}`,
)
const findLive = both(
  'token find live',
  `select ${columnsOf('token')} from belfry.token where ns = $1 and name = $2 and revoked_at is null`,
)
const revoke = both(
  'token revoke',
  'update belfry.token set revoked_at = $3 where ns = $1 and name = $2 and revoked_at is null returning id',
)
/** The time of use is written only now and then, because every write costs a commit. */
const noteUse = both(
  'token note use',
  'update belfry.token set used_at = $3 where id = $1 and ns = $2 and coalesce(used_at, 0) < $4',
)

const useNotedMs = 3_600_000

export function* createToken(
  context: StoreContext,
  { name, hash, scope, for: caller = 'person', expiresAt }: NewToken,
  { actor }: { readonly actor: Actor },
): Step<TokenAnswer> {
  checkText(name, 'name', nameLengthMax)
  checkText(hash, 'hash', keyLengthMax)
  checkText(scope, 'scope', nameLengthMax)
  checkChoice(caller, 'for', callerKinds)
  if (expiresAt !== undefined) checkInstant(expiresAt, 'expiresAt')
  checkActor(actor)
  yield* lockManaged(context)
  const now = yield* clockNow()
  const [id] = (yield* freshIds(1)) as [number]
  const said = yield* configuredScope(context, name)
  if (said !== null && said.scope !== scope) throw otherScope(name, scope, said)
  const managedBy = said?.source ?? null
  const made = [now, actor.name, expiresAt ?? null, managedBy] as const
  const row = yield* one(insertToken, id, context.ns, name, hash, scope, caller, ...made)
  if (row === undefined) {
    return { answer: 'exists', token: tokenViewOf((yield* one(findLive, context.ns, name)) as Row) }
  }
  const detail = { id: formatId('token', id), scope, for: caller, expiresAt: expiresAt ?? null }
  yield* writeAudit(context, { actor, verb: 'token.create', subject: `token ${name}`, detail }, now)
  return { answer: 'created', token: tokenViewOf(row) }
}

function otherScope(name: string, scope: string, said: ConfiguredScope): BelfryError {
  const message = `The config file of source ${said.source} gives token ${name} the scope ${said.scope}, not ${scope}.`
  return new BelfryError('conflict', message, {
    hint: 'Create it with that scope, or change the file.',
    details: { token: name, managedBy: said.source, scope: said.scope },
  })
}

export function* revokeToken(
  context: StoreContext,
  name: string,
  { actor }: { readonly actor: Actor },
): Step<'revoked' | 'not-found'> {
  checkText(name, 'name', nameLengthMax)
  checkActor(actor)
  const now = yield* clockNow()
  const row = yield* one<{ id: number }>(revoke, context.ns, name, now)
  if (row === undefined) return 'not-found'
  const detail = { id: formatId('token', row.id) }
  yield* writeAudit(context, { actor, verb: 'token.revoke', subject: `token ${name}`, detail }, now)
  return 'revoked'
}

export function* noteTokenUse({ ns }: StoreContext, id: string): Step<void> {
  const number = parseId('token', id)
  if (number === null) return
  const now = yield* clockNow()
  yield* run(noteUse, number, ns, now, now - useNotedMs)
}
