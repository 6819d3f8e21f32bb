import assert from 'node:assert'
import type { Policy } from './core/queue/policy.ts'
import { leftOutNouns, refusingVerbs } from './features.ts'
import type { Verbs } from './operations/bind.ts'
import { type AnySection, sectionFields } from './operations/config-section.ts'
import { type AddedFields, allAdded, withAdded } from './operations/fields/added-fields.ts'
import { kernelHoldReasons, kernelNouns } from './operations/kernel-nouns.ts'
import type { MoreVerbs, NounEntry } from './operations/noun.ts'
import type { AnyOperation } from './operations/operation.ts'
import type { OperationContext } from './operations/operation-context.ts'
import type { AttemptFacts, RunOrigin } from './operations/part.ts'
import type { HealthCheck } from './operations/store/health-check.ts'
import type { Part, Together } from './part.ts'
import { parts } from './parts.ts'

type NounsOf<Parts extends readonly Part[]> = Together<
  Parts[number] extends infer Each ? (Each extends { readonly nouns: infer Nouns } ? Nouns : never) : never
>
export type Nouns = typeof kernelNouns & NounsOf<typeof parts>

const each: readonly Part[] = parts

export const sections: readonly AnySection[] = each.flatMap((part) => part.config ?? [])

export const fields: AddedFields = allAdded([...each.map((part) => part.fields), { config: sectionFields(sections) }])

/** Every noun with its verbs, of the kernel and of all parts. A part may add verbs to a noun of the kernel or of an earlier part, and fields, which are then in every schema of the noun. */
export const nouns: Nouns = withFields(
  each
    .flatMap((part) => Object.entries(part.nouns ?? {}))
    .reduce<Readonly<Record<string, object>>>(withVerbs, kernelNouns),
) as Nouns

function withVerbs(known: Readonly<Record<string, object>>, [noun, more]: [string, NounEntry | MoreVerbs]) {
  const entry = known[noun] as NounEntry | undefined
  const operations = { ...entry?.operations, ...more.operations }
  const isNew = Object.keys(more.operations).every((verb) => !Object.hasOwn(entry?.operations ?? {}, verb))
  assert(isNew, `a part adds a verb that the noun ${noun} already has`)
  assert(
    'says' in more === (entry === undefined),
    `the noun ${noun} must be described by the first part that has it, and once`,
  )
  const groups = { ...entry?.groups, ...more.groups }
  const otherWords = { ...entry?.otherWords, ...more.otherWords }
  return { ...known, [noun]: { ...entry, ...more, operations, groups, otherWords } }
}

export const nounEntries: Readonly<Record<string, NounEntry>> = nouns
function withFields(all: Readonly<Record<string, object>>): object {
  return mapped(all as Readonly<Record<string, NounEntry>>, (entry) => ({
    ...entry,
    operations: mapped(entry.operations, (operation) => {
      const [input, output] = [withAdded(operation.input, fields), withAdded(operation.output, fields)]
      return { ...operation, input, output }
    }),
  }))
}

function mapped<Value, Result>(record: Readonly<Record<string, Value>>, change: (value: Value) => Result) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]))
}

/** The plural of a noun, used by the library, in paths and in documents. */
export function pluralOf(noun: string): string {
  return nounEntries[noun]?.plural ?? noun
}

/** The verbs of all nouns, by the plural of the noun: the properties of `Belfry` and the client. */
export type NounVerbs = {
  readonly [Noun in keyof Nouns as Nouns[Noun]['plural']]: Verbs<Nouns[Noun]['operations']> & Composed<Nouns[Noun]>
}

type Composed<Entry> = Entry extends { readonly composes: infer Methods extends NonNullable<NounEntry['composes']> }
  ? { readonly [Name in keyof Methods]: ReturnType<Methods[Name]['of']> }
  : unknown

export function bindNouns(bound: (operations: NounEntry['operations']) => object): NounVerbs {
  const known = Object.values(nounEntries).map(({ plural, operations, composes = {} }) => {
    const verbs = bound(operations)
    const whole = Object.freeze({ ...verbs, ...mapped(composes, (method) => method.of(verbs)) })
    return [plural, refusingVerbs(plural, whole)] as const
  })
  const leftOut = leftOutNouns().map((noun) => [noun, refusingVerbs(noun, {})] as const)
  return Object.fromEntries([...leftOut, ...known]) as NounVerbs
}

/** The table of verbs, from which every door is derived. */
export const operations: readonly AnyOperation[] = Object.values(nounEntries).flatMap((noun) =>
  Object.values(noun.operations),
)

/** The doctor checks of the parts. */
export const checks: readonly HealthCheck[] = each.flatMap((part) => part.checks ?? [])

/** Asks the parts for the budgets that count planned work. */
export const budgetsOf = each.flatMap((part) => part.budgetsOf ?? [])

/** The names that parts keep, by the scope of a hold or budget. */
export const subjects: NonNullable<OperationContext['subjects']> = Object.assign(
  {},
  ...each.map((part) => part.subjects ?? {}),
)

/** Asks the parts for their fields of attempts. */
export const attemptFacts: readonly AttemptFacts[] = each.flatMap((part) => part.attemptFacts ?? [])

/** The queues that parts reserve. */
export const queues: Readonly<Record<string, Policy>> = Object.assign({}, ...each.map((part) => part.queues ?? {}))

/** The hold reasons of the kernel and of all parts, by code. */
export const holdReasons: OperationContext['holdReasons'] = Object.assign(
  { ...kernelHoldReasons },
  ...each.map((part) => part.holdReasons ?? {}),
)

/** Asks the parts for facts about a run. */
export const runNotes: NonNullable<OperationContext['runNotes']> = each.flatMap((part) => part.explainsRun ?? [])

/** Asks the parts for facts about a schedule. */
export const scheduleNotes: NonNullable<OperationContext['scheduleNotes']> = each.flatMap(
  (part) => part.explainsSchedule ?? [],
)

/** The run sources that parts add. */
export const origins: Readonly<Record<string, RunOrigin>> = Object.assign({}, ...each.map((part) => part.origins ?? {}))
