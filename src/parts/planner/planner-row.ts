import type { Autonomy } from '../../core/schedule/group.ts'
import { groupOf } from '../../store/groups/group-row.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { both, clockNow, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

export const providers = ['openai-compatible', 'anthropic', 'scripted'] as const
export type Provider = (typeof providers)[number]

/** The planner of a namespace, as a person set it. */
export interface PlannerSpec {
  readonly provider: Provider
  /** Where the model is served. */
  readonly url?: string | undefined
  readonly model: string
  /** The name of the secret with its key. */
  readonly key?: string | undefined
  /** Whether answers are streamed: some servers have no other way. */
  readonly stream?: boolean | undefined
  /** The file with the steps of the provider `scripted`. */
  readonly script?: string | undefined
  /** For schedules and groups that say nothing of it. */
  readonly autonomy?: Autonomy | undefined
  readonly tokensPerMonth?: number | undefined
  /** Millionths of the currency for a million tokens. Absent: what looks cost is unknown. */
  readonly prices?: { readonly in: number; readonly out: number; readonly currency: string } | undefined
}

export interface PlannerRow {
  readonly ns: number
  readonly spec: PlannerSpec
  readonly paused: { readonly at: number; readonly by: string; readonly reason: string | null } | null
  /** New schedules have ids beyond this one. */
  readonly enrolledTo: number
}

const find = both('planner find', 'select ns, spec, paused, enrolled_to from belfry.planner where ns = $1')
const put = both(
  'planner put',
  `insert into belfry.planner (ns, spec, enrolled_to, managed_by, updated_at) values ($1, $2, 0, $3, $4)
    on conflict (ns) do update set spec = excluded.spec, managed_by = excluded.managed_by, updated_at = excluded.updated_at`,
)
const setPaused = both('planner set paused', 'update belfry.planner set paused = $2, updated_at = $3 where ns = $1')

export function* findPlanner({ ns }: StoreContext): Step<PlannerRow | null> {
  const row = yield* one<Row>(find, ns)
  if (row === undefined) return null
  return {
    ns,
    spec: JSON.parse(row.spec as string) as PlannerSpec,
    paused: row.paused === null ? null : JSON.parse(row.paused as string),
    enrolledTo: row.enrolled_to as number,
  }
}

export function* putPlanner(
  context: StoreContext,
  spec: PlannerSpec,
  source: string | null = null,
): Step<PlannerSpec | null> {
  const before = yield* findPlanner(context)
  yield* run(put, context.ns, JSON.stringify(spec), source, yield* clockNow())
  return before?.spec ?? null
}
putPlanner.audits = (_: unknown, [spec]: [PlannerSpec, ...unknown[]]) => ({
  detail: { provider: spec.provider, model: spec.model },
})

export function* writePlannerPause({ ns }: StoreContext, paused: PlannerRow['paused']): Step<void> {
  yield* run(setPaused, ns, paused === null ? null : JSON.stringify(paused), yield* clockNow())
}
writePlannerPause.audits = () => ({ detail: {} })

/** How far a planner may go with a schedule: as it says, else its group, else the namespace. */
export function* autonomyOf(context: StoreContext, row: Pick<ScheduleRow, 'spec'>): Step<Autonomy> {
  const own = row.spec.autonomy ?? (yield* groupOf(context, row.spec))?.spec.autonomy
  if (own !== undefined) return own
  const planner = yield* findPlanner(context)
  return planner === null ? 'off' : (planner.spec.autonomy ?? 'suggest')
}
