import type { Autonomy } from '../../core/schedule/group.ts'
import { groupOf } from '../../store/groups/group-row.ts'
import type { ScheduleRow } from '../../store/schedules/schedule-row.ts'
import { both, clockNow, one, type Row, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

export const providers = ['openai-compatible', 'anthropic', 'scripted'] as const
export type Provider = (typeof providers)[number]

/** The name of the planner's budget, and of the queue that it bounds. */
export const plannerBudget = 'planner'

/** The planner of a namespace, as a person has set it. */
export interface PlannerSpec {
  readonly provider: Provider
  /** The address of the model's API. */
  readonly url?: string | undefined
  readonly model: string
  /** The name of the secret that has the key. */
  readonly key?: string | undefined
  /** Whether the model's answers are streamed: some servers can only stream. */
  readonly stream?: boolean | undefined
  /** The file with the steps of the provider `scripted`. */
  readonly script?: string | undefined
  /** The autonomy for schedules and groups that do not set it. */
  readonly autonomy?: Autonomy | undefined
  readonly tokensPerMonth?: number | undefined
  /** The time zone of the months of the budget; it is kept from the first time a limit was set. */
  readonly zone?: string | undefined
  /** The fields of answers that are sent, for schedules that do not set them. */
  readonly fields?: readonly string[] | undefined
  /** In millionths of the currency, for a million tokens. Absent: the cost of looks is unknown. */
  readonly prices?: { readonly in: number; readonly out: number; readonly currency: string } | undefined
}

export interface PlannerRow {
  readonly ns: number
  readonly spec: PlannerSpec
  readonly paused: { readonly at: number; readonly by: string; readonly reason: string | null } | null
  /** The highest id of the enrolled schedules; new schedules have higher ids. */
  readonly enrolledTo: number
  /** The config source that manages the planner. */
  readonly managedBy: string | null
}

const find = both('planner find', 'select ns, spec, paused, enrolled_to, managed_by from belfry.planner where ns = $1')
const put = both(
  'planner put',
  `insert into belfry.planner (ns, spec, enrolled_to, managed_by, updated_at) values ($1, $2, 0, $3, $4)
    on conflict (ns) do update set spec = excluded.spec, managed_by = excluded.managed_by, updated_at = excluded.updated_at`,
)
const setManaged = both('planner set managed', 'update belfry.planner set managed_by = $2 where ns = $1')
/** A pause without a model has the spec `null`: `belfry mcp --planner` needs no model, and is paused too. */
const setPaused = both(
  'planner set paused',
  `insert into belfry.planner (ns, spec, paused, enrolled_to, updated_at) values ($1, 'null', $2, 0, $3)
    on conflict (ns) do update set paused = excluded.paused, updated_at = excluded.updated_at`,
)

/** The planner of the namespace; null while no model is set. */
export function* findPlanner({ ns }: StoreContext): Step<PlannerRow | null> {
  const row = yield* one<Row>(find, ns)
  const spec = row === undefined ? null : (JSON.parse(row.spec as string) as PlannerSpec | null)
  if (row === undefined || spec === null) return null
  return {
    ns,
    spec,
    paused: pauseIn(row),
    enrolledTo: row.enrolled_to as number,
    managedBy: row.managed_by as string | null,
  }
}

/** The pause of all planners, whether or not a model is set. */
export function* findPlannerPause({ ns }: StoreContext): Step<PlannerRow['paused']> {
  return pauseIn(yield* one<Row>(find, ns))
}

function pauseIn(row: Row | undefined): PlannerRow['paused'] {
  return row?.paused == null ? null : JSON.parse(row.paused as string)
}

export function* savePlanner(context: StoreContext, spec: PlannerSpec, source: string | null): Step<void> {
  yield* run(put, context.ns, JSON.stringify(spec), source, yield* clockNow())
}

/** Leaves the planner set, although no config file manages it any longer. */
export function* leavePlanner({ ns }: StoreContext): Step<void> {
  yield* run(setManaged, ns, null)
}

export function* writePlannerPause({ ns }: StoreContext, paused: PlannerRow['paused']): Step<void> {
  yield* run(setPaused, ns, paused === null ? null : JSON.stringify(paused), yield* clockNow())
}
writePlannerPause.audits = () => ({ detail: {} })

/** How far a planner may go with a schedule: the autonomy of the schedule, else of its group, else of the namespace. */
export function* autonomyOf(context: StoreContext, row: Pick<ScheduleRow, 'spec'>): Step<Autonomy> {
  const own = row.spec.autonomy ?? (yield* groupOf(context, row.spec))?.spec.autonomy
  if (own !== undefined) return own
  const planner = yield* findPlanner(context)
  return planner === null ? 'off' : (planner.spec.autonomy ?? 'suggest')
}
