import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { BelfryError } from '../../core/error.ts'
import { isRecord } from '../../core/json/record.ts'
import type { KindStore } from '../../targets/kind.ts'
import { type AgentProfile, type ProfileSpec, readProfile } from './profile-form.ts'
import { listProfiles } from './profile-rows.ts'

/** Beside this module in the sources, and in the package, where code is moved and joined and the profiles stay. */
const place = 'src/parts/agents/profiles'
const levelsMax = 5

let shipped: Promise<ReadonlyMap<string, ProfileSpec>> | undefined

/** The profiles that come with Belfry, read once. */
export function shippedProfiles(): Promise<ReadonlyMap<string, ProfileSpec>> {
  shipped ??= readShipped()
  return shipped
}

async function readShipped(): Promise<ReadonlyMap<string, ProfileSpec>> {
  const { parse } = await import('yaml')
  const { folder, files } = shippedFiles()
  return new Map(
    files.map((file) => {
      const name = basename(file, '.yaml')
      const given: unknown = parse(readFileSync(join(folder, file), 'utf8'))
      const { spec, problems } = readProfile(name, given, { base: undefined, folder })
      if (problems[0] !== undefined) throw new Error(`${file}: ${problems[0].field} ${problems[0].problem}`)
      return [name, spec] as const
    }),
  )
}

function shippedFiles(): { folder: string; files: string[] } {
  for (let level = 1; level <= levelsMax; level++) {
    const folder = new URL(`${'../'.repeat(level)}${place}`, import.meta.url).pathname
    try {
      return {
        folder,
        files: readdirSync(folder)
          .filter((file) => file.endsWith('.yaml'))
          .sort(),
      }
    } catch {
      // It is higher up.
    }
  }
  throw new BelfryError('failure', 'The profiles of agents are not where they were installed.', {
    hint: 'Install Belfry again.',
  })
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
