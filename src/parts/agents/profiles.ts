import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { isRecord } from '../../core/json/record.ts'
import type { KindStore } from '../../targets/kind.ts'
import { type AgentProfile, type ProfileSpec, readProfile } from './profile-form.ts'
import { listProfiles } from './profile-rows.ts'

/** Beside this module in the sources. */
const sources = new URL('profiles/', import.meta.url)
/** What the build made of them: reading YAML would cost each worker a tenth of a second of its start. It is at the top of the build, where code is moved and joined. */
const built = 'agent-profiles.json'
const levelsMax = 3

let shipped: Promise<ReadonlyMap<string, ProfileSpec>> | undefined

/** The profiles that come with Belfry, read once. */
export function shippedProfiles(): Promise<ReadonlyMap<string, ProfileSpec>> {
  shipped ??= readShipped()
  return shipped
}

async function readShipped(): Promise<ReadonlyMap<string, ProfileSpec>> {
  const given = builtProfiles() ?? (await profilesIn(sources))
  return new Map(
    Object.entries(given).map(([name, profile]) => {
      const { spec, problems } = readProfile(name, profile, { base: undefined, folder: '/' })
      if (problems[0] !== undefined) throw new Error(`${name}: ${problems[0].field} ${problems[0].problem}`)
      return [name, spec] as const
    }),
  )
}

function builtProfiles(): Record<string, unknown> | null {
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

/** All profiles by name: the shipped ones, those in the store over them, and those that a file is about to write. */
export async function knownProfiles(
  store: KindStore,
  declared: Readonly<Record<string, unknown>> = {},
): Promise<ReadonlyMap<string, KnownProfile>> {
  const base = await shippedProfiles()
  const rows = await store.look(listProfiles)
  const given = new Map<string, { readonly spec: unknown; readonly managedBy: string | null }>([
    ...[...base.keys()].map((name) => [name, { spec: {}, managedBy: null }] as const),
    ...rows.map(({ name, spec, managedBy }) => [name, { spec, managedBy }] as const),
    ...Object.entries(declared).map(([name, spec]) => [name, { spec, managedBy: 'this file' }] as const),
  ])
  const known = new Map<string, KnownProfile>()
  for (const [name, { spec, managedBy }] of given) {
    const { profile } = readProfile(name, spec, { base: baseOf(name, spec, base), folder: '/' })
    // One that cannot be read was written by another version; a file's own is refused where it stands.
    if (profile !== null) known.set(name, { profile, managedBy })
  }
  return known
}

/** What a profile extends. */
export function baseOf(name: string, spec: unknown, base: ReadonlyMap<string, ProfileSpec>): ProfileSpec | undefined {
  return base.get(isRecord(spec) && typeof spec.extends === 'string' ? spec.extends : name)
}
