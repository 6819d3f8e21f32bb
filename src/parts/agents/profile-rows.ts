import { all, both, one, run, type Step } from '../../store/statement.ts'
import type { StoreContext } from '../../store/store-context.ts'

const find = both(
  'agents find profiles',
  'select name, spec, managed_by from belfry.agent_profile where ns = $1 order by name',
)
const findOne = both(
  'agents find profile',
  'select spec, managed_by from belfry.agent_profile where ns = $1 and name = $2',
)
const findKept = both(
  'agents find kept profiles',
  'select name from belfry.agent_profile where ns = $1 and managed_by = $2 order by name',
)
const save = both(
  'agents save profile',
  `insert into belfry.agent_profile (ns, name, spec, managed_by) values ($1, $2, $3, $4)
    on conflict (ns, name) do update set spec = excluded.spec`,
)
const remove = both('agents remove profile', 'delete from belfry.agent_profile where ns = $1 and name = $2')

export interface StoredProfile {
  readonly name: string
  readonly spec: object
  /** The source of the config file that the profile came from. */
  readonly managedBy: string
}

interface ProfileRow {
  readonly name: string
  readonly spec: string
  readonly managed_by: string
}

export function* listProfiles({ ns }: StoreContext): Step<StoredProfile[]> {
  const rows = yield* all<ProfileRow>(find, ns)
  return rows.map(({ name, spec, managed_by: managedBy }) => ({ name, spec: JSON.parse(spec) as object, managedBy }))
}

export function* keptProfiles({ ns }: StoreContext, source: string): Step<string[]> {
  return (yield* all<{ name: string }>(findKept, ns, source)).map(({ name }) => name)
}

export function* findProfile({ ns }: StoreContext, name: string): Step<Omit<StoredProfile, 'name'> | null> {
  const row = yield* one<ProfileRow>(findOne, ns, name)
  return row === undefined ? null : { spec: JSON.parse(row.spec) as object, managedBy: row.managed_by }
}

export function* saveProfile({ ns }: StoreContext, { name, spec, managedBy }: StoredProfile): Step<void> {
  yield* run(save, ns, name, JSON.stringify(spec), managedBy)
}

export function* removeProfile({ ns }: StoreContext, name: string): Step<void> {
  yield* run(remove, ns, name)
}
