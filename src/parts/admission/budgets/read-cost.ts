import { all, both, type Statement, type Step } from '../../../store/statement.ts'
import type { StoreContext } from '../../../store/store-context.ts'

export const costKeys = ['schedule', 'profile', 'account', 'day', 'tag'] as const
export type CostKey = (typeof costKeys)[number]

/** What the attempts of one key used together, in one currency. */
export interface CostRow {
  readonly key: string | null
  readonly currency: string | null
  readonly attempts: number
  readonly useful: number
  readonly noops: number
  readonly judged: number
  readonly tokens_in: number
  readonly tokens_out: number
  readonly tokens_cached: number
  readonly counted: number
  readonly money: number
  readonly runtime_ms: number
}

const sums = `count(*) as attempts, sum(case when u.is_completed = 1 and coalesce(u.is_noop, 0) = 0 then 1 else 0 end) as useful,
  coalesce(sum(u.is_noop), 0) as noops, count(u.is_noop) as judged,
  cast(coalesce(sum(u.tokens_in), 0) as bigint) as tokens_in, cast(coalesce(sum(u.tokens_out), 0) as bigint) as tokens_out,
  cast(coalesce(sum(u.tokens_cached), 0) as bigint) as tokens_cached,
  sum(case when u.tokens_in is null and u.tokens_out is null then 0 else 1 end) as counted,
  cast(coalesce(sum(u.money), 0) as bigint) as money, cast(sum(u.runtime_ms) as bigint) as runtime_ms`

const of = (key: CostKey, expression: string, join = ''): Statement =>
  both(
    `cost by ${key}`,
    `select ${expression} as key, u.currency, ${sums} from belfry.attempt_usage u ${join}
      where u.ns = $1 and u.at >= $2 and u.at < $3 group by 1, 2`,
  )

const statements: Readonly<Record<CostKey, Statement>> = {
  schedule: of('schedule', 's.name', 'left join belfry.schedule s on s.id = u.schedule_id'),
  profile: of('profile', `case when u.name = '' then u.kind else u.kind || '/' || u.name end`),
  account: of('account', 'u.account'),
  day: of('day', `''`),
  tag: of('tag', 'u.tags'),
}

/**
 * What the attempts that ended in a span of time used together. One day at a time, so that a long span does not hold up other
 * reads.
 */
export function* costBetween(
  { ns }: StoreContext,
  { by, from, until }: { readonly by: CostKey; readonly from: number; readonly until: number },
): Step<CostRow[]> {
  return yield* all<CostRow>(statements[by], ns, from, until)
}
