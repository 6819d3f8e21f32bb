import { randomBytes } from 'node:crypto'
import type { RunBounds } from '../../../core/caller.ts'
import { formatId, parseId } from '../../../core/id.ts'
import type { KnowsToken } from '../../../operations/token/token-caller.ts'
import { hashOfSecret, isSecretOf, secretBytes } from '../../../operations/token/token-secret.ts'
import { auditRefusal } from '../../../store/audit/write-audit.ts'
import { runIdOf } from '../../../store/leases/settle.ts'
import type { LeaseName } from '../../../store/port.ts'
import { removeOf } from '../../../store/prune/sweep.ts'
import { both, clockNow, one, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

/** Inserts only for a run that is leased under this fence. A run of a task that an agent planned is one level deeper than its parent. */
const insert = both(
  'run token insert',
  `insert into belfry.run_token (run_id, fence, ns, hash, project, profile, depth)
    select l.run_id, l.fence, l.ns, $4, $5, $6, coalesce((select t.depth from belfry.task t where t.schedule_id = l.schedule_id), 0)
    from belfry.lease l where l.run_id = $1 and l.fence = $2 and l.ns = $3
    on conflict (run_id, fence) do nothing returning run_id`,
)
/** The token is valid as long as the lease: it ends with the attempt, and when a dead worker stops renewing the lease. */
const find = both(
  'run token find',
  `select k.hash, k.project, k.profile, k.depth, l.expires_at from belfry.run_token k
    left join belfry.lease l on l.run_id = k.run_id and l.fence = k.fence
    where k.run_id = $1 and k.fence = $2 and k.ns = $3`,
)
const noteRefused = both(
  'run token note refused',
  'update belfry.run_token set refused_at = $4 where run_id = $1 and fence = $2 and ns = $3 and refused_at is null returning run_id',
)
export const removeRunTokens = removeOf('run_token', 'run_id')

export interface NewRunToken {
  readonly hash: string
  readonly project: string
  readonly profile: string
}

/** Stores the hash of a new token; `lease-lost` if the run is not leased under this fence. */
export function* keepRunToken(
  { ns }: StoreContext,
  lease: LeaseName,
  { hash, project, profile }: NewRunToken,
): Step<'written' | 'lease-lost'> {
  const row = yield* one(insert, runIdOf(lease), lease.fence, ns, hash, project, profile)
  return row === undefined ? 'lease-lost' : 'written'
}

/** A new secret, and the token that contains it. The token names its run, by which the row is found. */
export function newRunToken({ runId, fence }: LeaseName): { readonly token: string; readonly hash: string } {
  const secret = randomBytes(secretBytes).toString('hex')
  return { token: `belfry_${runId}.${fence}_${secret}`, hash: hashOfSecret(secret) }
}

const pattern = /^belfry_(r-[0-9a-z]+)\.(\d{1,9})_([0-9a-f]{64})$/

export interface KnownRunToken {
  readonly hash: string
  readonly bounds: RunBounds
  readonly isLive: boolean
}

export function* findRunToken({ ns }: StoreContext, runId: number, fence: number): Step<KnownRunToken | null> {
  const row = yield* one<{
    hash: string
    project: string
    profile: string
    depth: number
    expires_at: number | null
  }>(find, runId, fence, ns)
  if (row === undefined) return null
  const { hash, project, profile, depth, expires_at: expiresAt } = row
  const bounds = { run: formatId('run', runId), attempt: fence, project, profile, depth }
  return { hash, bounds, isLive: expiresAt !== null && expiresAt > (yield* clockNow()) }
}

/** Records the first use of a token after the end of its run; a flood of such uses is one line. */
function* refuseDead(context: StoreContext, runId: number, fence: number, actor: { name: string; door: string }) {
  if ((yield* one(noteRefused, runId, fence, context.ns, yield* clockNow())) === undefined) return
  const caller = { ...actor, kind: 'agent' as const }
  const subject = `run ${formatId('run', runId)}`
  yield* auditRefusal(context, { actor: caller, verb: 'token.use', subject, detail: { refused: 'unauthenticated' } })
}

/** Finds the agent of a run by the token that the run was given. */
export const knowsRunToken: KnowsToken = async (store, token) => {
  const [, id = '', number = '', secret = ''] = pattern.exec(token) ?? []
  const [runId, fence] = [parseId('run', id), Number(number)]
  if (runId === null) return null
  const known = await store.look(findRunToken, runId, fence)
  // The answer must not reveal whether such a run existed.
  if (known === null || !isSecretOf(secret, known.hash)) return 'The token is not valid.'
  const name = `agent ${known.bounds.run}`
  if (known.isLive) return { name, scope: 'operate', kind: 'agent', within: known.bounds }
  await store.do(refuseDead, runId, fence, { name, door: 'http' })
  return 'The run of the token has ended, and the token with it.'
}
