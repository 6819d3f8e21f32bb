import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isRecord } from '../../core/json/record.ts'
import type { KindStore } from '../../targets/kind.ts'
import { type AgentProfile, type ProfileSpec, readProfile } from './profile-form.ts'
import { listProfiles } from './profile-rows.ts'

/** The folder beside this module, in the sources. */
const sources = new URL('profiles/', import.meta.url)
/**
 * The profiles as the build prepared them: reading and checking YAML would add a tenth of a second to the start of each worker. The file is
 * at the top of the build, because the build moves and joins modules.
 */
const built = 'agent-profiles.json'
const levelsMax = 3

/** A profile that comes with Belfry: the content of its file, and the profile made from it. */
interface ShippedProfile {
  readonly spec: ProfileSpec
  readonly profile: AgentProfile
}

let shipped: Promise<ReadonlyMap<string, ShippedProfile>> | undefined

/** The profiles that come with Belfry, read once. */
export function shippedProfiles(): Promise<ReadonlyMap<string, ShippedProfile>> {
  shipped ??= readShipped()
  return shipped
}

async function readShipped(): Promise<ReadonlyMap<string, ShippedProfile>> {
  return new Map(Object.entries(builtProfiles() ?? (await profilesRead(sources))))
}

/** The profiles in a folder, checked, as the build keeps them. */
export async function profilesRead(folder: URL): Promise<Record<string, ShippedProfile>> {
  const given = Object.entries(await profilesIn(folder))
  return Object.fromEntries(
    given.map(([name, written]) => {
      const { spec, profile, problems } = readProfile(name, written, { base: undefined, folder: '/' })
      if (profile === null) throw new Error(`${name}: ${problems[0]?.field} ${problems[0]?.problem}`)
      return [name, { spec, profile }] as const
    }),
  )
}

function builtProfiles(): Record<string, ShippedProfile> | null {
  for (let level = 0; level <= levelsMax; level++) {
    const file = new URL(`./${'../'.repeat(level)}${built}`, import.meta.url)
    if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8'))
  }
  return null
}

/** The profiles in a folder, by name. */
export async function profilesIn(folder: URL): Promise<Record<string, unknown>> {
  const { parse } = await import('yaml')
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'))
  const read = (file: string) => [basename(file, '.yaml'), parse(readFileSync(new URL(file, folder), 'utf8'))]
  return Object.fromEntries(files.sort().map(read))
}

/** A profile, or why it cannot be used. */
export type KnownProfile = { readonly profile: AgentProfile; readonly managedBy: string | null }

/** All profiles by name: the shipped ones; over these, those in the store; over these, those that a file is about to write. */
export async function knownProfiles(
  store: KindStore,
  declared: Readonly<Record<string, unknown>> = {},
): Promise<ReadonlyMap<string, KnownProfile>> {
  const base = await shippedProfiles()
  const rows = await store.look(listProfiles)
  const given = new Map<string, { readonly spec: unknown; readonly managedBy: string | null }>([
    ...rows.map(({ name, spec, managedBy }) => [name, { spec, managedBy }] as const),
    ...Object.entries(declared).map(([name, spec]) => [name, { spec, managedBy: 'this file' }] as const),
  ])
  const known = new Map<string, KnownProfile>()
  for (const [name, { profile }] of base) if (!given.has(name)) known.set(name, { profile, managedBy: null })
  for (const [name, { spec, managedBy }] of given) {
    const { profile } = readProfile(name, spec, { base: baseOf(name, spec, base), folder: '/' })
    // A row that cannot be read was written by another version. An invalid profile of the file itself is refused with its place in the
    // file.
    if (profile !== null) known.set(name, { profile, managedBy })
  }
  return known
}

/** The profile that this one extends. */
export function baseOf(
  name: string,
  spec: unknown,
  base: ReadonlyMap<string, ShippedProfile>,
): ProfileSpec | undefined {
  return base.get(isRecord(spec) && typeof spec.extends === 'string' ? spec.extends : name)?.spec
}
