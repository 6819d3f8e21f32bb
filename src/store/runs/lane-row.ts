import { type Capabilities, hostKind, lanesOf, laneText, type TargetNeed } from '../../core/queue/plan-leases.ts'
import { canBeName } from '../check.ts'
import { dialects, each, eachAhead, freshIds, type Request, rowsOf, type Step } from '../statement.ts'
import type { StoreContext } from '../store-context.ts'

const columns = 'n.id, n.ns, n.kind, n.name, n.account, n.calendar'
const findNeeds = dialects('need find', {
  sqlite: `select ${columns} from belfry.need n where ns = $1 and kind = $2 and name = $3 and account = $4 and calendar = $5`,
  postgres: `select ${columns} from belfry.need n
    join unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) as i (ns, kind, name, account, calendar)
      on n.ns = i.ns and n.kind = i.kind and n.name = i.name and n.account = i.account and n.calendar = i.calendar`,
})
const insertNeeds = dialects('need insert', {
  sqlite: `insert into belfry.need (id, ns, kind, name, account, calendar) values ($1, $2, $3, $4, $5, $6)
    on conflict (ns, kind, name, account, calendar) do nothing`,
  postgres: `insert into belfry.need (id, ns, kind, name, account, calendar)
    select * from unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[])
      as i (id, ns, kind, name, account, calendar)
    order by kind, name, account, calendar on conflict (ns, kind, name, account, calendar) do nothing`,
})

export function needName(need: TargetNeed | null): string {
  return JSON.stringify([need?.kind ?? hostKind, need?.name ?? '', need?.account ?? '', need?.calendar ?? ''])
}

/** Sends the query for lanes of any namespace; `ensureNeeds` reads its answer. */
export function* askForNeeds(
  needs: readonly { readonly ns: number; readonly need: TargetNeed | null }[],
): Step<Request> {
  const wanted = new Map(needs.map(({ ns, need }) => [`${ns} ${needName(need)}`, needTuple(ns, needName(need))]))
  return yield* eachAhead(findNeeds, [...wanted.values()])
}

/** The lanes of these needs, by `needName`, created where they do not exist yet. */
export function* ensureNeeds(
  context: Pick<StoreContext, 'ns'>,
  needs: readonly (TargetNeed | null)[],
  asked?: Request,
): Step<Map<string, number>> {
  const wanted = [...new Set(needs.map(needName))]
  const found = asked === undefined ? yield* find(context, wanted) : foundIn(context, yield* rowsOf<NeedRow>(asked))
  const missing = wanted.filter((name) => !found.has(name))
  if (missing.length === 0) return found
  const ids = yield* freshIds(missing.length)
  yield* each(
    insertNeeds,
    missing.map((name, index) => [ids[index] ?? 0, ...needTuple(context.ns, name)]),
  )
  return yield* find(context, wanted)
}

function* find(context: Pick<StoreContext, 'ns'>, names: readonly string[]): Step<Map<string, number>> {
  const tuples = names.map((name) => needTuple(context.ns, name))
  return foundIn(context, yield* each<NeedRow>(findNeeds, tuples))
}

interface NeedRow {
  readonly id: number
  readonly ns: number
  readonly kind: string
  readonly name: string
  readonly account: string
  readonly calendar: string
}

function foundIn(context: Pick<StoreContext, 'ns'>, rows: readonly NeedRow[]): Map<string, number> {
  const own = rows.filter(({ ns }) => ns === context.ns)
  return new Map(own.map(({ id, kind, name, account, calendar }) => [needName({ kind, name, account, calendar }), id]))
}

function needTuple(ns: number, name: string): [number, ...NeedColumns] {
  return [ns, ...needColumns(name)]
}

type NeedColumns = [kind: string, name: string, account: string, calendar: string]

/** The columns of a lane, from its `needName`. */
export function needColumns(name: string): NeedColumns {
  return JSON.parse(name) as NeedColumns
}

/** Whether the caller can execute a need `n`; the parameters are its lists. */
export const needServed = {
  sqlite: (kinds: string, lanes: string) =>
    `(n.kind in (select value from json_each(${kinds}))
      or n.kind || '/' || n.name in (select value from json_each(${lanes})))`,
  postgres: (kinds: string, lanes: string) =>
    `(n.kind in (select json_array_elements_text(${kinds}::json))
      or n.kind || '/' || n.name in (select json_array_elements_text(${lanes}::json)))`,
}

/**
 * The needs `n` of a namespace that the caller can execute, found by the index on kind and name: a store may have a lane for each
 * session that ever got a message, and a lease must not read through them.
 */
export const servedNeeds = {
  sqlite: (kinds: string, lanes: string, ns: string) =>
    `(select ${columns} from json_each(${kinds}) v cross join belfry.need n on n.ns = ${ns} and n.kind = v.value
      union all select ${columns} from json_each(${lanes}) v cross join belfry.need n on n.ns = ${ns}
        and n.kind = substr(v.value, 1, instr(v.value, '/') - 1) and n.name = substr(v.value, instr(v.value, '/') + 1)) n`,
  postgres: (kinds: string, lanes: string, ns: string) =>
    `(select ${columns} from json_array_elements_text(${kinds}::json) v (value)
      ${byIndex(`n.ns = ${ns} and n.kind = v.value`)}
      union all select ${columns} from json_array_elements_text(${lanes}::json) v (value)
      ${byIndex(`n.ns = ${ns} and n.kind = split_part(v.value, '/', 1) and n.name = substr(v.value, strpos(v.value, '/') + 1)`)}) n`,
}

/** By the index, whatever PostgreSQL guesses about the length of a JSON list. */
function byIndex(where: string): string {
  return `cross join lateral (select ${columns} from belfry.need n where ${where} offset 0) n`
}

/** What a caller can execute, as two JSON lists for a statement. */
export interface CapabilityLists {
  /** Kinds taken whole. */
  readonly kinds: string
  /** Lanes taken by name, as `laneText` spells them. */
  readonly lanes: string
}

/** The lane of runs without a target has no kind to name: only a host takes it. */
export function capabilityLists(can: Capabilities): CapabilityLists {
  const lanes = lanesOf(can).filter(({ kind, name }) => kind !== hostKind && canBeName(kind) && canBeName(name ?? kind))
  const whole = new Set(lanes.filter(({ name }) => name === undefined).map(laneText))
  // Excluded here: a lane of a kind that is taken whole would be found twice.
  const named = new Set(lanes.filter(({ kind, name }) => name !== undefined && !whole.has(kind)).map(laneText))
  if (can.host === true) whole.add(hostKind)
  return { kinds: JSON.stringify([...whole]), lanes: JSON.stringify([...named]) }
}
