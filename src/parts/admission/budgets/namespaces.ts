import { stateAt } from '../../../core/budget/budget.ts'
import { writeAudit } from '../../../store/audit/write-audit.ts'
import { checkActor } from '../../../store/check.ts'
import { lockManaged } from '../../../store/managed.ts'
import type { Actor } from '../../../store/port.ts'
import { wakePostponed } from '../../../store/schedules/wake-postponed.ts'
import { all, both, clockNow, one, run, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'
import { namespaceCeiling, setNamespaceCeiling } from '../accounts/write-account.ts'
import type { Namespace } from './namespace-verbs.ts'
import { countFromNow, findQuota, monthAt, type Quota, type QuotaSpec, runsMade, turnQuota } from './quota.ts'
import { deleteBudget, findBudget, putBudget } from './write-budget.ts'

const namespacesMax = 1_000
const findNamespaces = both(
  'namespaces list',
  `select n.id, n.name, (select count(*) from belfry.schedule s where s.ns = n.id and s.deleted_at is null and s.is_done = 0) as schedules
    from belfry.namespace n order by n.name limit ${namespacesMax}`,
)
const findNamespace = both('namespace find by name', 'select id from belfry.namespace where name = $1')
const saveQuota = both(
  'quota save',
  `insert into belfry.quota (ns, spec, version, updated_at, updated_by) values ($1, $2, 1, $3, $4)
    on conflict (ns) do update set spec = excluded.spec, version = quota.version + 1, updated_at = excluded.updated_at,
      updated_by = excluded.updated_by`,
)
const markCounting = both('namespace mark counting', 'update belfry.namespace set counts = $2 where id = $1')

/** The budget that keeps the tokens of a namespace. */
export const tokensBudget = 'namespace-tokens'

export function* listNamespaces(context: StoreContext): Step<Namespace[]> {
  const now = yield* clockNow()
  const views: Namespace[] = []
  for (const row of yield* all<{ id: number; name: string; schedules: number }>(findNamespaces)) {
    const quota = yield* findQuota(row.id)
    views.push({
      name: row.name,
      schedules: Number(row.schedules),
      ...(yield* usedOf({ ...context, ns: row.id }, quota, now)),
    })
  }
  return views
}

function* usedOf(context: StoreContext, quota: Quota | null, now: number): Step<Omit<Namespace, 'name' | 'schedules'>> {
  const month = quota === null ? null : monthAt(quota.spec, now)
  const tokens = quota === null ? null : yield* findBudget(context, tokensBudget)
  const state = tokens === null ? null : stateAt(tokens.terms, tokens.state, now)
  const { zone = null, schedulesMax = null, everyMinMs = null, runsPerMonth = null } = quota?.spec ?? {}
  return {
    ...{ zone, schedulesMax, everyMinMs, runsPerMonth },
    maxConcurrent: yield* namespaceCeiling(context),
    runsMade: month === null ? 0 : yield* runsMade(context.ns, month),
    tokensUsed: state === null ? 0 : state.used.tokens + state.reserved.tokens,
    tokensPerMonth: tokens?.terms.limits.tokens ?? null,
    resetAt: month?.until ?? null,
  }
}

/** `undefined` stays, `null` removes. */
type Change = { readonly [Field in keyof QuotaSpec]?: QuotaSpec[Field] | null | undefined } & {
  readonly tokensPerMonth?: number | null | undefined
  readonly maxConcurrent?: number | null | undefined
}

interface Setting {
  readonly change: Change
  readonly zoneDefault: string
  readonly actor: Actor
}

/** Sets the quotas of a namespace. A higher quota lets its schedules fire at once. */
export function* setNamespace(
  context: StoreContext,
  name: string,
  { change, zoneDefault, actor }: Setting,
): Step<'set' | 'not-found'> {
  checkActor(actor)
  const row = yield* one<{ id: number }>(findNamespace, name)
  if (row === undefined) return 'not-found'
  const own = { ...context, ns: row.id, namespace: name }
  yield* lockManaged(own)
  const now = yield* clockNow()
  const before = yield* findQuota(own.ns)
  // Before the quota is locked, which a step that fires locks after its schedules.
  if (before !== null && before.holdId !== null) {
    yield* wakePostponed(own, { from: monthAt(before.spec, now).until, now })
  }
  const { tokensPerMonth, maxConcurrent, ...rest } = change
  const spec = patchedSpec(before?.spec ?? { zone: zoneDefault }, rest)
  yield* run(saveQuota, own.ns, JSON.stringify(spec), now, actor.name)
  yield* run(markCounting, own.ns, spec.runsPerMonth === undefined ? 0 : 1)
  const quota = (yield* findQuota(own.ns)) as Quota
  const { runsPerMonth } = spec
  const isNew = before?.spec.runsPerMonth === undefined || before.spec.zone !== spec.zone
  if (runsPerMonth !== undefined && isNew) yield* countFromNow(own, quota, now)
  yield* turnQuota(own, quota, now)
  if (maxConcurrent !== undefined) yield* setNamespaceCeiling(own, maxConcurrent)
  yield* setTokens(own, { tokensPerMonth, zone: spec.zone, actor })
  yield* writeAudit(own, { actor, verb: 'namespace.set', subject: `namespace ${name}`, detail: change }, now)
  return 'set'
}

function patchedSpec(before: QuotaSpec, change: Omit<Change, 'tokensPerMonth' | 'maxConcurrent'>): QuotaSpec {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  const whole = Object.entries({ ...before, ...Object.fromEntries(given) }).filter(([, value]) => value !== null)
  return Object.fromEntries(whole) as unknown as QuotaSpec
}

interface Tokens {
  readonly tokensPerMonth: number | null | undefined
  readonly zone: string
  readonly actor: Actor
}

/** The tokens of a namespace are a budget of it. */
function* setTokens(context: StoreContext, { tokensPerMonth, zone, actor }: Tokens): Step<void> {
  const found = yield* findBudget(context, tokensBudget)
  const tokens = tokensPerMonth === undefined ? found?.terms.limits.tokens : tokensPerMonth
  if (tokens === undefined) return
  if (tokens === null) yield* deleteBudget(context, tokensBudget, { actor })
  else {
    const terms = { per: 'month', zone, limits: { tokens } } as const
    yield* putBudget(context, { name: tokensBudget, scope: 'namespace', subject: '', terms }, { actor })
  }
}
