import { isRecord } from '../../core/json/record.ts'
import type { ConfigSection } from '../../operations/config-section.ts'
import { name } from '../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../operations/fields/field-changes.ts'
import { refuseManaged } from '../../store/managed.ts'
import { type ProfileSpec, readProfile } from './profile-form.ts'
import { findProfile, keptProfiles, removeProfile, saveProfile } from './profile-rows.ts'
import { baseOf, shippedProfiles } from './profiles.ts'

declare module '../../core/added.ts' {
  interface AddedToConfig {
    readonly agents: AddedType<readonly { readonly name: string; readonly answer: string }[], Record<string, unknown>>
  }
}

export interface ProfileEntry {
  readonly name: string
  readonly spec: ProfileSpec
}

export interface ProfileApplied {
  readonly name: string
  readonly answer: 'created' | 'updated' | 'unchanged' | 'deleted'
  readonly before: object
  readonly after: object
}

/** Profiles of agents in a config file. */
export const agentsSection: ConfigSection<ProfileEntry, ProfileApplied> = {
  name: 'agents',
  says: 'Profiles of agents by name: how a program is called and read. One with the name of a shipped profile changes only what it gives.',
  names: name,
  deletes: true,
  async reader({ folder }) {
    const base = await shippedProfiles()
    return (named, given, problems) => {
      if (isRecord(given) && typeof given.extends === 'string' && !base.has(given.extends)) {
        const expected = `one of ${[...base.keys()].join(', ')}`
        problems.push({ field: 'extends', problem: `is ${JSON.stringify(given.extends)}`, expected })
      }
      const read = readProfile(named, given, { base: baseOf(named, given, base), folder })
      problems.push(...read.problems)
      return { name: named, spec: read.spec }
    }
  },
  placed: (entries) => Object.fromEntries(entries.map(({ name: named, spec }) => [named, spec])),
  // Every field decides what the worker starts, or what it believes of the program's output.
  starts: (given, where) => {
    const { argv, program, ...rest } = isRecord(given) ? given : {}
    const what = [argv ?? program ?? `the program of ${where}`].flat().join(' ')
    return [{ where, what, with: rest, starts: given }]
  },
  kept: keptProfiles,
  *apply({ context, source }, { name: named, spec }) {
    const found = yield* findProfile(context, named)
    refuseManaged({ noun: 'agent profile', name: named, managedBy: found?.managedBy ?? null }, source)
    const isSame = JSON.stringify(found?.spec) === JSON.stringify(spec)
    if (!isSame) yield* saveProfile(context, { name: named, spec, managedBy: source })
    const answer = found === null ? 'created' : isSame ? 'unchanged' : 'updated'
    return { name: named, answer, before: found?.spec ?? {}, after: spec }
  },
  *leave({ context }, named) {
    const found = yield* findProfile(context, named)
    if (found === null) return null
    yield* removeProfile(context, named)
    return { name: named, answer: 'deleted', before: found.spec, after: {} }
  },
  written: ({ name: named, answer, before, after }) => ({
    name: named,
    answer,
    changes: answer === 'updated' ? fieldChanges(before, after) : [],
  }),
}
