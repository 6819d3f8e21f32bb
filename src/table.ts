import type { Verbs } from './operations/bind.ts'
import type { AnyOperation } from './operations/operation.ts'
import type { RunOrigin } from './operations/part.ts'
import type { Examination } from './operations/store/examination.ts'
import { kernelNouns, type NounEntry } from './operations/table.ts'
import type { Part } from './part.ts'
import { parts } from './parts.ts'

type Together<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never
type NounsOf<Parts extends readonly Part[]> = Together<
  Parts[number] extends infer Each ? (Each extends { readonly nouns: infer Nouns } ? Nouns : never) : never
>
export type Nouns = typeof kernelNouns & NounsOf<typeof parts>

const each: readonly Part[] = parts

/** Every noun with its verbs, of the kernel and of all parts. */
export const nouns: Nouns = Object.assign({ ...kernelNouns }, ...each.map((part) => part.nouns ?? {}))

/** The plural of a noun, by which the library, paths and documents have it. */
export function pluralOf(noun: string): string {
  return (nouns as Readonly<Record<string, { readonly plural: string }>>)[noun]?.plural ?? noun
}

/** The verbs of all nouns, each noun by its plural: what a `Belfry` and a client have. */
export type NounVerbs = { readonly [Noun in keyof Nouns as Nouns[Noun]['plural']]: Verbs<Nouns[Noun]['operations']> }

/** Binds the verbs of every noun. */
export function bindNouns(bound: (operations: NounEntry['operations']) => object): NounVerbs {
  const entries: readonly NounEntry[] = Object.values(nouns)
  return Object.fromEntries(entries.map(({ plural, operations }) => [plural, bound(operations)])) as NounVerbs
}

/** The table of verbs, from which every door is derived. */
export const operations: readonly AnyOperation[] = Object.values(nouns).flatMap((noun): AnyOperation[] =>
  Object.values(noun.operations),
)

/** What `doctor` looks at for the parts. */
export const checks: readonly Examination[] = each.flatMap((part) => part.checks ?? [])

/** Where runs may come from, by the sources that parts give them. */
export const origins: Readonly<Record<string, RunOrigin>> = Object.assign({}, ...each.map((part) => part.origins ?? {}))
