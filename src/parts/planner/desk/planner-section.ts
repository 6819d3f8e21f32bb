import { isRecord } from '../../../core/json/record.ts'
import type { ConfigSection, EntryWritten, Start } from '../../../operations/config-section.ts'
import { name } from '../../../operations/fields/basic-fields.ts'
import { fieldChanges } from '../../../operations/fields/field-changes.ts'
import { read } from '../../../operations/input/read-input.ts'
import type { Problem } from '../../../operations/input/refuse-input.ts'
import { findPlanner, leavePlanner, type PlannerSpec } from '../planner-row.ts'
import { plannerForm, readPlanner } from './planner-input.ts'
import { setPlanner } from './planner-steps.ts'

declare module '../../../core/added.ts' {
  interface AddedToConfig {
    readonly planner: AddedType<readonly EntryWritten[], Record<string, unknown>>
  }
}

export interface PlannerEntry {
  readonly name: string
  readonly spec: PlannerSpec
  readonly zone: string
}

export interface PlannerApplied {
  readonly name: string
  readonly answer: string
  readonly before: PlannerSpec | null
  readonly after: PlannerSpec
}

const section = 'planner'

/** The planner in a config file. A planner that the file no longer has stays set, because schedules may have its hints. */
export const plannerSection: ConfigSection<PlannerEntry, PlannerApplied> = {
  name: section,
  says: 'The planner, with the fields of planner set; its key as { secret: NAME }.',
  names: name,
  isWhole: true,
  reader:
    async ({ folder, zone }) =>
    (named, given, problems) => {
      const { value, problems: found } = read(plannerForm, withKey(given, problems), 'a planner')
      problems.push(...found)
      return { name: named, spec: readPlanner(value, folder, problems), zone }
    },
  placed: ([entry]) => (entry === undefined ? {} : { [section]: entry.spec }),
  starts: (given, where) => modelAsked(given, where),
  *kept(context, source) {
    return (yield* findPlanner(context))?.managedBy === source ? [section] : []
  },
  *apply({ context, source, actor }, { name: named, spec, zone }) {
    const { answer, before } = yield* setPlanner(context, spec, { actor, zone, source })
    return { name: named, answer, before, after: (yield* findPlanner(context))?.spec ?? spec }
  },
  *leave({ context }, named) {
    const found = yield* findPlanner(context)
    if (found === null) return null
    yield* leavePlanner(context)
    return { name: named, answer: 'left', before: found.spec, after: found.spec }
  },
  written: ({ answer, before, after }) => ({
    name: `${after.provider} ${after.model}`,
    answer,
    changes: answer === 'updated' ? fieldChanges(before ?? {}, after) : [],
  }),
  notes: (applied) =>
    applied.some(({ answer }) => answer === 'left')
      ? ['The planner is no longer in the file, and stays set; `belfry planner pause` stops it.']
      : [],
}

/** In a file the key is named like every other secret, so that no one writes the key itself there by mistake. */
function withKey(given: unknown, problems: Problem[]): unknown {
  if (!isRecord(given) || given.key === undefined) return given ?? {}
  const { key, ...rest } = given
  if (isRecord(key) && Object.keys(key).join() === 'secret') return { ...rest, key: key.secret }
  problems.push({ field: 'key', problem: 'is no secret by its name', expected: '{ secret: NAME }' })
  return rest
}

/** A file that came with a checkout could send the answers of endpoints to any address, so a person must trust it first. */
function modelAsked(given: unknown, where: string): Start[] {
  if (!isRecord(given) || given.provider === 'scripted') return []
  const { url = 'its provider', model, key } = given
  const secret = isRecord(key) ? `, with the secret ${String(key.secret)}` : ''
  const what = `sends answers of schedules to ${String(model)} at ${String(url)}${secret}`
  return [{ where, what, with: {}, starts: { planner: given } }]
}
